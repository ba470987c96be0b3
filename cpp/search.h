// Exact nearest neighbors under the EMD, with few pairs solved.
//
// Lower bounds of d_M(q, x) rule out almost all x, from the cheapest to the
// dearest; M is a metric:
//
//     one-sided   1/2 (sum_p w_p |q_p - x_p| + |w'(q - x)|),  w_p = the least
//                 M_pp', p' != p: mass that leaves p, or enters it, goes so far
//     Lipschitz   |f'(q - x)|, f the potentials of a pair (q, x') met before
//     raised      the best of these f on the bins of the pair: u_i = min_j C_ij
//                 + f_j, v_j = min_i C_ij - u_i; then u'(q - x)+ + v'(x - q)+
//     stopped     what the simplex has proved when it is above the ceiling
//
// A query always opens the candidate with the smallest bound: brings its next
// bound up to date or, when there is none, solves it. It ends when the smallest
// bound exceeds the distance of the k-th best.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "batch.h"
#include "cost.h"
#include "masses.h"
#include "threshold.h"

namespace groundmetric {

// Ordered by distance, ties by index.
struct Neighbor {
    double distance;
    std::int64_t index;
    auto operator<=>(const Neighbor&) const = default;
};

// The k nearest of those within the radius.
struct Reach {
    std::int64_t n_neighbors;
    double radius;
};

using Neighbors = std::vector<std::vector<Neighbor>>;

class NeighborSearch {
public:
    // Histograms of mass 1.
    NeighborSearch(std::shared_ptr<const Masses> base,
                   std::shared_ptr<const CostMatrix> matrix);

    // The neighbors of each query, in order; distances are those of pairwise().
    // They do not depend on the number of threads, nor does n_solves().
    Neighbors find(const Masses& queries, const Reach& reach,
                   const Threading& threading) const;
    // The same for the base itself; nobody is his own neighbor.
    Neighbors find_among_base(const Reach& reach,
                              const Threading& threading) const;

    // Pairs that the simplex looked at in the last call, stopped ones included.
    std::int64_t n_solves() const { return n_solves_; }

    const Masses& base() const { return *base_; }
    const CostMatrix& matrix() const { return *matrix_; }
    // Histogram j as numbers, padded with zeros to a whole number of vectors.
    const double* row(std::int64_t j) const {
        return rows_.data() + j * width_;
    }
    int width() const { return width_; }
    // w, and w'x_j.
    const std::vector<double>& least_costs() const { return least_; }
    double least_cost(std::int64_t j) const { return least_sums_[j]; }
    const std::optional<NearArcs>& near_arcs() const { return near_; }

private:
    Neighbors find(const Masses& queries, bool among_base, const Reach& reach,
                   const Threading& threading) const;

    std::shared_ptr<const Masses> base_;
    std::shared_ptr<const CostMatrix> matrix_;
    std::optional<NearArcs> near_;
    int width_;
    std::vector<double> rows_, least_, least_sums_;
    mutable std::atomic<std::int64_t> n_solves_{0};
};

}  // namespace groundmetric
