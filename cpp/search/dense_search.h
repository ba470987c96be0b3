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
#include "hub/near_arcs.h"
#include "search/neighborhoods.h"
#include "transport/cost.h"

namespace groundmetric {

class DenseSearch {
public:
    // Histograms of mass 1, and a metric.
    DenseSearch(std::shared_ptr<const Masses> base,
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
