// The request to a search, and its result.
#pragma once

#include <cstdint>
#include <iterator>
#include <memory>
#include <vector>

#include "base/solve_counts.h"
#include "search/candidates.h"
#include "transport/tree.h"

namespace groundmetric {

// Preorder and parents of a pair's optimal tree.
using KeptTree = std::shared_ptr<const std::vector<Node>>;

// Ordered by distance, ties by index.
struct Neighbor {
    double distance;
    std::int64_t index;
    KeptTree tree = nullptr;  // of the optimal plan, if kept
    bool operator<(const Neighbor& other) const {
        return distance < other.distance ||
               (distance == other.distance && index < other.index);
    }
};

// What to find.
struct Request {
    // The k nearest of those within the radius of each query.
    std::int64_t n_neighbors;
    std::vector<double> radii;
    Candidates candidates;
    // Likely neighbors of each query, which are tried first; may be empty.
    std::vector<std::int64_t> hint_starts;
    std::vector<std::int32_t> hints;
    bool keep_trees = false;  // for sums of plans
    // If queries are histograms of the base: which of them, from first up to
    // end. All others need a radius below zero.
    std::int64_t first = 0, end = 0;
};

// The neighbors of all queries, sorted; those of query i are at starts[i] to
// starts[i + 1].
struct Neighborhoods {
    std::vector<std::int64_t> starts{0};
    std::vector<Neighbor> neighbors;
    SolveCounts counts;

    Neighborhoods() = default;
    // From the neighbors of each query, which are used up one by one.
    explicit Neighborhoods(std::vector<std::vector<Neighbor>>& of_queries) {
        for (std::vector<Neighbor>& found : of_queries) {
            neighbors.insert(neighbors.end(),
                             std::make_move_iterator(found.begin()),
                             std::make_move_iterator(found.end()));
            found = {};
            starts.push_back(static_cast<std::int64_t>(neighbors.size()));
        }
    }
};

}  // namespace groundmetric
