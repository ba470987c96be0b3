// The inner loop of distances between points, compiled once for each
// instruction set.
#pragma once

namespace groundmetric {

struct PointKernels {
    // distances[v][i] = sqrt(sum_k (points[v][k] - packed[k * stride + i])^2)
    // for n points and all i < stride, a multiple of kLanes. Squares are summed
    // in the order of k, so a distance does not depend on the points around it.
    void (*distances)(const double* const* points, int n, const double* packed,
                      int stride, int n_coordinates, double* const* distances);
};

// The table for this CPU, as kernels() of kernels.h.
const PointKernels& point_kernels();

}  // namespace groundmetric
