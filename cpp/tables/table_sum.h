// Weighted sums of typical tables over many pairs.
#pragma once

#include <cstdint>

#include "base/parallel.h"

namespace groundmetric {

// sums (d x d) = sum_k weights[k] * typical table of rows i_k and j_k of the
// n x d matrix `histograms` (rows of mass 1), for pairs = i_0, j_0, i_1, ...
// Returns the largest relative error of a margin. The order of summation, and
// so every bit of the result, does not depend on the number of threads.
double typical_sum(const double* histograms, int d, const std::int64_t* pairs,
                   const double* weights, std::int64_t n_pairs, double total,
                   const Threading& threading, double* sums);

}  // namespace groundmetric
