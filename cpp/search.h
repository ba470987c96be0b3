// Exact nearest neighbors under the EMD, with few pairs solved.
//
// One engine for all who need neighbors: the criteria of learning, neighbor
// search, classification. For these queries, these candidates, the k nearest
// within a radius; query.h says how most pairs are ruled out without a solve.
//
// Among the histograms of the base, a pair serves both of its ends. If all
// candidates within the radius are wanted, the end with the smaller index looks
// at the pair, up to the larger of the two radii. If the k nearest are wanted,
// queries run in waves: what a wave learns of a pair, its distance or a bound,
// is passed on to the other end in a later wave. Waves do not depend on the
// number of threads, and so nothing does.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "candidates.h"
#include "cost.h"
#include "masses.h"
#include "parallel.h"
#include "threshold.h"
#include "tree.h"

namespace groundmetric {

// Preorder and parents of a pair's optimal tree.
using KeptTree = std::shared_ptr<const std::vector<Node>>;

// Ordered by distance, ties by index.
struct Neighbor {
    double distance;
    std::int64_t index;
    KeptTree tree = nullptr;  // of the optimal plan, if it is kept
    bool operator<(const Neighbor& other) const {
        return distance < other.distance ||
               (distance == other.distance && index < other.index);
    }
};

// What is wanted.
struct Request {
    // The k nearest of those within the radius of each query.
    std::int64_t n_neighbors;
    std::vector<double> radii;
    Candidates candidates;
    // Likely neighbors of each query: opened first. Empty for none.
    std::vector<std::int64_t> hint_starts;
    std::vector<std::int32_t> hints;
    bool keep_trees = false;  // for sums of plans
};

// How pairs were judged: solved to the optimum, stopped once proved to be out
// of reach, or bounded: never looked at by the simplex.
struct Tally {
    std::int64_t n_solved = 0, n_stopped = 0, n_bounded = 0, n_pivots = 0;
};

// The neighbors of all queries, in order: those of query i stand at starts[i]
// to starts[i + 1].
struct Neighborhoods {
    std::vector<std::int64_t> starts;
    std::vector<Neighbor> neighbors;
    Tally tally;
};

class PrunedSearch {
public:
    // Histograms of mass 1, and a metric.
    PrunedSearch(std::shared_ptr<const Masses> base,
                 std::shared_ptr<const CostMatrix> matrix, const Poll& poll);

    // The neighbors of each query; distances are those of pairwise(). Null
    // queries: the base among itself, excluding each histogram itself.
    Neighborhoods find(const Masses* queries, const Request& request,
                       const Threading& threading) const;

    // sums (d x d) = sum_k weights[k] * optimal plan of the k-th neighbor found
    // among the base: with weights omega, the subgradient of Algorithm 1. Pairs
    // whose tree was not kept are solved again, to the same plan.
    void plan_sum(const Neighborhoods& found, const double* weights,
                  const Threading& threading, double* sums) const;

    // Pairs that the simplex looked at in the last find.
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
