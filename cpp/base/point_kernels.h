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

    // least[v] = min_i half_squares[i] - sum_k points[v][k] packed[k * stride +
    // i], for n points and all i < stride, a multiple of kFloatLanes: half of
    // the squared distance to the nearest packed point, less that of points[v]
    // from the origin.
    void (*nearest)(const float* const* points, int n, const float* packed,
                    const float* half_squares, int stride, int n_coordinates,
                    float* least);
};

// The table for this CPU, as kernels() of kernels.h.
const PointKernels& point_kernels();

}  // namespace groundmetric
