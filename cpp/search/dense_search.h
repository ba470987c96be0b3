// Exact nearest neighbors under the EMD, solving only a few pairs.
//
// The criteria of learning, neighbor search and classification all use this
// engine. It finds, for each query, the k nearest candidates within a radius;
// dense_query.h explains how most pairs are ruled out without a solve.
//
// Within the base, a solved pair serves both of its ends. If all candidates
// within the radius are wanted, the end with the smaller index handles the
// pair, up to the larger of the two radii. If the k nearest are wanted, queries
// run in waves: the distance or bound that a wave finds for a pair is passed on
// to the other end in a later wave. Waves, and therefore the results, do not
// depend on the number of threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/masses.h"
#include "base/parallel.h"
#include "base/solve_counts.h"
#include "hub/near_arcs.h"
#include "search/candidates.h"
#include "transport/cost.h"
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
    // Which histograms of the base are queries, if these are its own: from
    // first up to end. The others need a radius below zero.
    std::int64_t first = 0, end = 0;
};

// The neighbors of all queries, sorted; those of query i are at starts[i] to
// starts[i + 1].
struct Neighborhoods {
    std::vector<std::int64_t> starts;
    std::vector<Neighbor> neighbors;
    SolveCounts counts;
};

class PrunedSearch {
public:
    // Histograms of mass 1, and a metric.
    PrunedSearch(std::shared_ptr<const Masses> base,
                 std::shared_ptr<const CostMatrix> matrix, const Poll& poll);

    // The neighbors of each query, with the distances of pairwise(). If queries
    // is null, histograms of the base are queries, excluding themselves.
    Neighborhoods find(const Masses* queries, const Request& request,
                       const Threading& threading) const;

    // sums (d x d) = sum_k weights[k] * optimal plan of the k-th neighbor found
    // among the base: with weights omega, the subgradient of Algorithm 1. Pairs
    // whose tree was not kept are solved again, to the same plan.
    void plan_sum(const Neighborhoods& found, const double* weights,
                  const Threading& threading, double* sums) const;

    // The same with plans that are optimal for the uniform metric: common mass
    // stays, and the rest moves independently of where it comes from, (r - c)+
    // (c - r)+' / mass. The simplex would choose among such plans by the order
    // of the bins, which means nothing.
    void spread_sum(const Neighborhoods& found, const double* weights,
                    const Threading& threading, double* sums) const;

    // Pairs that the simplex started in the last find.
    std::int64_t n_solves() const { return n_solves_; }

    const Masses& base() const { return *base_; }
    const CostMatrix& matrix() const { return *matrix_; }
    // Histogram j as numbers, padded with zeros to a whole number of vectors.
    const double* row(std::int64_t j) const {
        return rows_.data() + j * width_;
    }
    int width() const { return width_; }
    // w_p, the least cost between p and another bin; and w'x_j.
    const std::vector<double>& least_costs() const { return least_; }
    double least_cost(std::int64_t j) const { return least_sums_[j]; }
    const std::optional<NearArcs>& near_arcs() const { return near_; }

private:
    std::shared_ptr<const Masses> base_;
    std::shared_ptr<const CostMatrix> matrix_;
    std::optional<NearArcs> near_;
    int width_;
    std::vector<double> rows_, least_, least_sums_;
    mutable std::atomic<std::int64_t> n_solves_{0};
};

}  // namespace groundmetric
