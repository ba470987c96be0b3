// Exact nearest neighbors of sparse histograms whose bins have coordinates.
//
// Three lower bounds of the EMD under Euclidean costs, as in the search for
// word mover's distances (Kusner et al. 2015), rule out most pairs:
//
//     centroid   |sum_p r_p x_p - sum_q c_q x_q|: by Jensen's inequality, no
//                plan moves the center of mass for less
//     nearest    what c has more than the query in a bin comes from the nearest
//                bin of the query: a sum over the bins of c, see nearest_bins.h
//     relaxed    every bin sends its mass to the nearest bin of the other side,
//                u_i = min_j C_ij; what this leaves over, v_j = min_i C_ij -
//                u_i, is added, so that the bound is the value of feasible
//                potentials; and the same from the other side
//
// A query takes the candidate with the smallest bound, computes its next bound
// or, if there is none left, solves it, and ends when the smallest bound
// exceeds the k-th best distance. The simplex stops once it has proved as much.
// Under other costs, only the relaxed bounds hold.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/parallel.h"
#include "search/nearest_bins.h"
#include "search/neighborhoods.h"
#include "sparse/points.h"
#include "sparse/sparse_masses.h"
#include "sparse/sparse_pairwise.h"

namespace groundmetric {

class PointSearch {
public:
    PointSearch(std::shared_ptr<const SparseMasses> base,
                std::shared_ptr<const Points> points);

    // The neighbors of each query, with the distances of pairwise(). If queries
    // is null, each histogram of the base is a query, excluding itself. If
    // queries are base rows starting at `first`, each excludes itself; -1 means
    // they are not. Only if queries is null may candidates be fewer than all.
    // Hints and trees are not used. If `once`, a pair of the base is found only
    // from the end with the larger radius, or with the smaller index if radii
    // are equal.
    Neighborhoods find(const SparseMasses* queries, std::int64_t first,
                       const Request& request, bool once,
                       const Threading& threading) const;

    const SparseMasses& base() const { return *base_; }
    const Points& points() const { return *points_; }
    const RoundedPoints& rounded() const { return rounded_; }
    // Centroids of the base, coordinates in rows, and the length of a row.
    const std::vector<double>& centroids() const { return centroids_; }
    int width() const { return width_; }

private:
    std::shared_ptr<const SparseMasses> base_;
    std::shared_ptr<const Points> points_;
    RoundedPoints rounded_;
    int width_;
    std::vector<double> centroids_;
};

// The neighbors of each query in a part of the base, under any costs between
// their bins, with the distances of pairwise(). DenseQuery i is histogram first
// + i of that part, unless it is outside. If costs are symmetric, the histogram
// that comes first in the base sends.
Neighborhoods nearest_sparse(const SparseMasses& queries,
                             const SparseMasses& base, const ListedCosts& costs,
                             const SparseOptions& options, std::int64_t first,
                             const Request& request,
                             const Threading& threading);

}  // namespace groundmetric
