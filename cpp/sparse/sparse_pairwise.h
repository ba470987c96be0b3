// All distances between two sets of sparse histograms.
#pragma once

#include <cstdint>

#include "base/parallel.h"
#include "sparse/points.h"
#include "sparse/sparse_costs.h"
#include "sparse/sparse_masses.h"

namespace groundmetric {

struct SupportOptions {
    bool symmetric;  // x = y, and so are the costs: solve half, mirror it
    bool reduced;    // costs are a metric: common mass stays
};

// distances[i * n + j] = the EMD of x_i and y_j under the distances of points.
void pairwise(const RaggedMasses& x, const RaggedMasses& y,
              const Points& points, const SupportOptions& options,
              const Threading& threading, double* distances);

// The same under costs between bins.
void pairwise(const RaggedMasses& x, const RaggedMasses& y,
              const BlockCosts& costs, const SupportOptions& options,
              const Threading& threading, double* distances);

}  // namespace groundmetric
