// The inner loops of a smoothed plan, compiled once for each instruction set.
//
// They work on a kernel of single precision, n_rows rows of `stride` entries, a
// multiple of kFloatLanes. Every sum is made in the same order on every
// instruction set.
#pragma once

#include "base/kernels.h"

namespace groundmetric {

struct SmoothKernels {
    // K_j = 2^(-(cost_j + offset_j - least) rate), at least 2^-100, for j < n,
    // a multiple of kLanes; `least` is the smallest cost_j + offset_j.
    void (*soften)(const double* cost, const double* offset, double least,
                   double rate, int n, float* kernel);

    // One round of Sinkhorn's algorithm: row_factor_i = supply_i /
    // sum_j K_ij column_factor_j, and column_sum_j += row_factor_i K_ij.
    void (*balance)(const float* kernel, int stride, int n_rows,
                    const float* column_factor, const float* supply,
                    float* row_factor, float* column_sum);

    // K_j = (K_j factor_j / the largest of these)^4, at least 1e-32.
    void (*sharpen)(float* kernel, const float* factor, int stride);

    // The entries of a row of the plan, x_j = row_factor K_j column_factor_j,
    // that are at least `least` of the mass that leaves or enters there,
    // min(supply, demand_j): writes these j, rising, and the shares, at most 1,
    // and returns how many there are.
    int (*find_shares)(const float* kernel, int stride,
                       const float* column_factor, const float* demand,
                       float row_factor, float supply, float least, int* found,
                       float* shares);
};

// The table for this CPU, as kernels() of kernels.h.
const SmoothKernels& smooth_kernels();

}  // namespace groundmetric
