// All distances between two sets of sparse histograms.
#pragma once

#include <cstdint>

#include "base/parallel.h"
#include "sparse/points.h"
#include "sparse/sparse_costs.h"
#include "sparse/sparse_masses.h"

namespace groundmetric {

struct SparseOptions {
    bool symmetric;  // x = y, and so are the costs: solve half, mirror it
    bool reduced;    // costs are a metric: common mass stays
};

// distances[i * n + j] = the EMD of x_i and y_j under the distances of points.
void pairwise(const SparseMasses& x, const SparseMasses& y,
              const Points& points, const SparseOptions& options,
              const Threading& threading, double* distances);

// The same under costs between bins.
void pairwise(const SparseMasses& x, const SparseMasses& y,
              const ListedCosts& costs, const SparseOptions& options,
              const Threading& threading, double* distances);

}  // namespace groundmetric
