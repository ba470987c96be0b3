// Compiled once for each instruction set, with GM_ISA naming it: see vectors.h.
#include "point_kernels.h"

#include "vectors.h"

namespace groundmetric::GM_ISA {
namespace {

inline Vector root(Vector x) {
#if defined(__AVX512F__)
    return _mm512_maskz_sqrt_pd(0xff, x);  // the plain one warns in g++ 12
#elif defined(__AVX2__)
    return _mm256_sqrt_pd(x);
#elif defined(__x86_64__)
    return _mm_sqrt_pd(x);
#else
    for (int k = 0; k < kWidth; ++k) x[k] = __builtin_sqrt(x[k]);
    return x;
#endif
}

// A tile of kPoints x kVectors sums stays in registers while k runs.
template <int kPoints, int kVectors>
inline void distances_tile(const double* const* points, const double* packed,
                           int stride, int n_coordinates,
                           double* const* distances, int at) {
    Vector sum[kPoints][kVectors] = {};
    for (int k = 0; k < n_coordinates; ++k) {
        const double* row = packed + (long)k * stride + at;
        for (int g = 0; g < kVectors; ++g) {
            const Vector x = load(row + g * kWidth);
            for (int v = 0; v < kPoints; ++v) {
                const Vector gap = x - points[v][k];
                sum[v][g] += gap * gap;
            }
        }
    }
    for (int v = 0; v < kPoints; ++v)
        for (int g = 0; g < kVectors; ++g)
            store(distances[v] + at + g * kWidth, root(sum[v][g]));
}

template <int kPoints>
inline void distances_group(const double* const* points, const double* packed,
                            int stride, int n_coordinates,
                            double* const* distances) {
    int at = 0;
    for (; at + 2 * kWidth <= stride; at += 2 * kWidth)
        distances_tile<kPoints, 2>(points, packed, stride, n_coordinates,
                                   distances, at);
    for (; at < stride; at += kWidth)
        distances_tile<kPoints, 1>(points, packed, stride, n_coordinates,
                                   distances, at);
}

void distances(const double* const* points, int n, const double* packed,
               int stride, int n_coordinates, double* const* distances) {
    int v = 0;
    for (; v + 4 <= n; v += 4)
        distances_group<4>(points + v, packed, stride, n_coordinates,
                           distances + v);
    for (; v < n; ++v)
        distances_group<1>(points + v, packed, stride, n_coordinates,
                           distances + v);
}

}  // namespace

extern const PointKernels point_table;
const PointKernels point_table{distances};

}  // namespace groundmetric::GM_ISA
