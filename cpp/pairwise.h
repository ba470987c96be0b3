// All distances between two sets of histograms.
#pragma once

#include <cstdint>

#include "cost.h"
#include "masses.h"
#include "parallel.h"

namespace groundmetric {

// What it took.
struct Effort {
    std::int64_t n_pivots = 0;
    std::int64_t n_by_hub = 0;  // pairs solved through the hub
    std::int64_t n_priced = 0;  // arcs, in these
};

struct PairwiseOptions {
    bool symmetric;  // x = y, and M is symmetric: solve half, mirror it
    bool hub;        // go through a hub if most of M equals its maximum
};

// distances[i * n + j] = d_M(x_i, y_j).
Effort pairwise(const Masses& x, const Masses& y, const CostMatrix& matrix,
                const PairwiseOptions& options, const Threading& threading,
                double* distances);

}  // namespace groundmetric
