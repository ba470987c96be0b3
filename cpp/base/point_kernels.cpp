// Compiled once for each instruction set, with GM_ISA naming it: see vectors.h.
#include "base/point_kernels.h"

#include "base/vectors.h"

namespace groundmetric::GM_ISA {
namespace {

inline Vector root(Vector x) {
#if GM_WIDTH == 8
    return _mm512_maskz_sqrt_pd(0xff, x);  // the plain one warns in g++ 12
#elif GM_WIDTH == 4
    return _mm256_sqrt_pd(x);
#elif defined(__x86_64__) && GM_HAS_VECTORS
    return _mm_sqrt_pd(x);
#else
    for (int k = 0; k < kWidth; ++k) x[k] = square_root(x[k]);
    return x;
#endif
}

// sum + x * x, rounded once, on every instruction set.
inline Vector add_square(Vector x, Vector sum) {
#if GM_WIDTH == 8
    return _mm512_fmadd_pd(x, x, sum);
#elif GM_WIDTH == 4 && defined(__FMA__)
    return _mm256_fmadd_pd(x, x, sum);
#else
    for (int k = 0; k < kWidth; ++k) sum[k] = multiply_add(x[k], x[k], sum[k]);
    return sum;
#endif
}

// A tile of kPoints x kVectors sums stays in registers while k runs.
template <int kPoints, int kVectors>
inline void distances_tile(const double* const* points, const double* packed,
                           int stride, int n_coordinates,
                           double* const* distances, int at) {
    Vector sum[kPoints][kVectors] = {};
    for (int k = 0; k < n_coordinates; ++k) {
        const double* row = packed + (long long)k * stride + at;
        for (int g = 0; g < kVectors; ++g) {
            const Vector x = load(row + g * kWidth);
            for (int v = 0; v < kPoints; ++v)
                sum[v][g] = add_square(x - points[v][k], sum[v][g]);
        }
    }
    for (int v = 0; v < kPoints; ++v)
        for (int g = 0; g < kVectors; ++g)
            store(distances[v] + at + g * kWidth, root(sum[v][g]));
}

// As many as there are registers for.
constexpr int kMostPoints = kWidth == 8 ? 8 : 4;
constexpr int kMostVectors = kWidth == 8 ? 3 : 2;

template <int kPoints, int kVectors>
inline int distances_tiles(const double* const* points, const double* packed,
                           int stride, int n_coordinates,
                           double* const* distances, int at) {
    for (; at + kVectors * kWidth <= stride; at += kVectors * kWidth)
        distances_tile<kPoints, kVectors>(points, packed, stride, n_coordinates,
                                          distances, at);
    return at;
}

// Few points take more vectors at a time: a sum waits for itself, so there had
// better be many.
template <int kPoints>
inline void distances_group(const double* const* points, const double* packed,
                            int stride, int n_coordinates,
                            double* const* distances) {
    constexpr int kFew = kMostPoints / 2;
    int at = 0;
    if constexpr (kPoints <= kFew)
        at = distances_tiles<kPoints, 2 * kMostVectors>(
            points, packed, stride, n_coordinates, distances, at);
    at = distances_tiles<kPoints, kMostVectors>(points, packed, stride,
                                                n_coordinates, distances, at);
    if constexpr (kMostVectors > 2)
        at = distances_tiles<kPoints, 2>(points, packed, stride, n_coordinates,
                                         distances, at);
    distances_tiles<kPoints, 1>(points, packed, stride, n_coordinates,
                                distances, at);
}

void distances(const double* const* points, int n, const double* packed,
               int stride, int n_coordinates, double* const* distances) {
    int v = 0;
    const auto take = [&]<int kPoints>() {
        for (; v + kPoints <= n; v += kPoints)
            distances_group<kPoints>(points + v, packed, stride, n_coordinates,
                                     distances + v);
    };
    take.template operator()<kMostPoints>();
    take.template operator()<kMostPoints / 2>();
    take.template operator()<kMostPoints / 4>();
    take.template operator()<1>();
}

template <int kPoints, int kVectors>
inline int nearest_tiles(const float* const* points, const float* packed,
                         const float* half_squares, int stride,
                         int n_coordinates, Floats* least, int at) {
    for (; at + kVectors * kFloats <= stride; at += kVectors * kFloats) {
        Floats sum[kPoints][kVectors];
        for (int v = 0; v < kPoints; ++v)
            for (int g = 0; g < kVectors; ++g)
                sum[v][g] = load(half_squares + at + g * kFloats);
        for (int k = 0; k < n_coordinates; ++k) {
            const float* row = packed + (long long)k * stride + at;
            for (int g = 0; g < kVectors; ++g) {
                const Floats x = load(row + g * kFloats);
                for (int v = 0; v < kPoints; ++v)
                    sum[v][g] = sum[v][g] - x * points[v][k];
            }
        }
        for (int v = 0; v < kPoints; ++v)
            for (int g = 0; g < kVectors; ++g)
                least[v] = min(least[v], sum[v][g]);
    }
    return at;
}

template <int kPoints>
inline void nearest_group(const float* const* points, const float* packed,
                          const float* half_squares, int stride,
                          int n_coordinates, float* least) {
    constexpr int kFew = kMostPoints / 2;
    Floats least_of[kPoints];
    for (int v = 0; v < kPoints; ++v)
        for (int k = 0; k < kFloats; ++k) least_of[v][k] = 3e38F;
    int at = 0;
    if constexpr (kPoints <= kFew)
        at = nearest_tiles<kPoints, 2 * kMostVectors>(
            points, packed, half_squares, stride, n_coordinates, least_of, at);
    at = nearest_tiles<kPoints, kMostVectors>(
        points, packed, half_squares, stride, n_coordinates, least_of, at);
    if constexpr (kMostVectors > 2)
        at = nearest_tiles<kPoints, 2>(points, packed, half_squares, stride,
                                       n_coordinates, least_of, at);
    nearest_tiles<kPoints, 1>(points, packed, half_squares, stride,
                              n_coordinates, least_of, at);
    for (int v = 0; v < kPoints; ++v) {
        least[v] = least_of[v][0];
        for (int k = 1; k < kFloats; ++k)
            least[v] = least_of[v][k] < least[v] ? least_of[v][k] : least[v];
    }
}

void nearest(const float* const* points, int n, const float* packed,
             const float* half_squares, int stride, int n_coordinates,
             float* least) {
    int v = 0;
    const auto take = [&]<int kPoints>() {
        for (; v + kPoints <= n; v += kPoints)
            nearest_group<kPoints>(points + v, packed, half_squares, stride,
                                   n_coordinates, least + v);
    };
    take.template operator()<kMostPoints>();
    take.template operator()<kMostPoints / 2>();
    take.template operator()<kMostPoints / 4>();
    take.template operator()<1>();
}

}  // namespace

extern const PointKernels point_table;
const PointKernels point_table{distances, nearest};

}  // namespace groundmetric::GM_ISA
