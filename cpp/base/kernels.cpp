// Compiled once for each instruction set, with GM_ISA naming it: see vectors.h.
#include "base/vectors.h"

namespace groundmetric::GM_ISA {
namespace {

inline Vector splat(double x) { return Vector{} + x; }
inline double min(double a, double b) { return a < b ? a : b; }

inline double smallest(Vector x) {
    double low = x[0];
    for (int k = 1; k < kWidth; ++k) low = min(low, x[k]);
    return low;
}

// Bit k is set where a[k] == b[k].
inline unsigned equal_bits(Vector a, Vector b) {
#if GM_WIDTH == 8
    return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ);
#elif GM_WIDTH == 4
    return (unsigned)_mm256_movemask_pd((__m256d)(a == b));
#else
    unsigned bits = 0;
    for (int k = 0; k < kWidth; ++k) bits |= (unsigned)(a[k] == b[k]) << k;
    return bits;
#endif
}

// Bit k is set where a[k] < b[k].
inline unsigned below_bits(Vector a, Vector b) {
#if GM_WIDTH == 8
    return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ);
#elif GM_WIDTH == 4
    return (unsigned)_mm256_movemask_pd((__m256d)(a < b));
#else
    unsigned bits = 0;
    for (int k = 0; k < kWidth; ++k) bits |= (unsigned)(a[k] < b[k]) << k;
    return bits;
#endif
}

// Rows in groups: independent minima hide the latency of each other.
template <int kRows>
inline void row_group_minima(const double* cost, int stride,
                             const double* offset, double* minima) {
    Vector best[kRows];
    for (int i = 0; i < kRows; ++i) best[i] = splat(kHuge);
    for (int j = 0; j < stride; j += kWidth) {
        const Vector shift = load(offset + j);
        for (int i = 0; i < kRows; ++i)
            best[i] =
                min(load(cost + (long long)i * stride + j) + shift, best[i]);
    }
    for (int i = 0; i < kRows; ++i) minima[i] = smallest(best[i]);
}

void row_minima(const double* cost, int stride, const double* offset,
                int n_rows, double* minima) {
    int i = 0;
    for (; i + 4 <= n_rows; i += 4)
        row_group_minima<4>(cost + (long long)i * stride, stride, offset,
                            minima + i);
    for (; i < n_rows; ++i)
        row_group_minima<1>(cost + (long long)i * stride, stride, offset,
                            minima + i);
}

int find(const double* row, const double* offset, int stride, double value) {
    for (int j = 0; j < stride; j += kWidth) {
        const Vector x = load(row + j) + load(offset + j);
        if (const unsigned bits = equal_bits(x, splat(value)))
            return j + first_bit(bits);
    }
    return stride;
}

int find_below(const double* row, const double* offset, int stride,
               double bound, int* found) {
    int n = 0;
    for (int j = 0; j < stride; j += kWidth) {
        const Vector x = load(row + j) + load(offset + j);
        for (unsigned bits = below_bits(x, splat(bound)); bits;
             bits &= bits - 1)
            found[n++] = j + first_bit(bits);
    }
    return n;
}

void two_smallest(const double* row, const double* offset, int stride,
                  double* first, double* second) {
    Vector low = splat(kHuge), next = splat(kHuge);
    for (int j = 0; j < stride; j += kWidth) {
        const Vector x = load(row + j) + load(offset + j);
        next = min(next, max(low, x));
        low = min(low, x);
    }
    double a = low[0], b = next[0];
    for (int k = 1; k < kWidth; ++k) {
        const double high = a < low[k] ? low[k] : a;
        a = min(a, low[k]);
        b = min(min(b, next[k]), high);
    }
    *first = a;
    *second = b;
}

void column_sums(const double* cost, int stride, int n_rows, double* sums) {
    for (int j = 0; j < stride; j += kWidth) {
        Vector sum{};
        for (int i = 0; i < n_rows; ++i)
            sum += load(cost + (long long)i * stride + j);
        store(sums + j, sum);
    }
}

// A tile of kRows x kVectors minima stays in registers while k runs.
template <int kRows, int kVectors>
inline void min_plus_tile(const double* first, const double* second, int stride,
                          int n, double* best) {
    Vector low[kRows][kVectors];
    for (int i = 0; i < kRows; ++i)
        for (int g = 0; g < kVectors; ++g)
            low[i][g] = load(best + (long long)i * stride + g * kWidth);
    for (int k = 0; k < n; ++k) {
        const double* row = second + (long long)k * stride;
        for (int g = 0; g < kVectors; ++g) {
            const Vector x = load(row + g * kWidth);
            for (int i = 0; i < kRows; ++i)
                low[i][g] =
                    min(x + first[(long long)i * stride + k], low[i][g]);
        }
    }
    for (int i = 0; i < kRows; ++i)
        for (int g = 0; g < kVectors; ++g)
            store(best + (long long)i * stride + g * kWidth, low[i][g]);
}

// A panel of `second`, kDepth rows of two vectors, stays in the first-level
// cache while all rows of `first` pass over it.
template <int kVectors>
inline void min_plus_panel(const double* first, const double* second,
                           int stride, int n, int n_rows, double* best) {
    constexpr int kDepth = 128;
    for (int k = 0; k < n; k += kDepth) {
        const int depth = n - k < kDepth ? n - k : kDepth;
        const double* panel = second + (long long)k * stride;
        int i = 0;
        for (; i + 4 <= n_rows; i += 4)
            min_plus_tile<4, kVectors>(first + (long long)i * stride + k, panel,
                                       stride, depth,
                                       best + (long long)i * stride);
        for (; i < n_rows; ++i)
            min_plus_tile<1, kVectors>(first + (long long)i * stride + k, panel,
                                       stride, depth,
                                       best + (long long)i * stride);
    }
}

void min_plus(const double* first, const double* second, int stride, int n,
              int n_rows, int n_columns, double* best) {
    int j = 0;
    for (; j + 2 * kWidth <= n_columns; j += 2 * kWidth)
        min_plus_panel<2>(first, second + j, stride, n, n_rows, best + j);
    for (; j < n_columns; j += kWidth)
        min_plus_panel<1>(first, second + j, stride, n, n_rows, best + j);
}

inline Vector magnitude(Vector x) { return max(x, -x); }

template <bool kAbsolute>
inline double weighted_sum(const double* f, const double* a, const double* b,
                           int n) {
    constexpr int kVectors = kLanes / kWidth;
    Vector sum[kVectors] = {};
    for (int p = 0; p < n; p += kLanes)
        for (int g = 0; g < kVectors; ++g) {
            const int at = p + g * kWidth;
            const Vector gap = load(a + at) - load(b + at);
            sum[g] += load(f + at) * (kAbsolute ? magnitude(gap) : gap);
        }
    double total = 0.0;
    for (int k = 0; k < kLanes; ++k) total += sum[k / kWidth][k % kWidth];
    return total;
}

double dot_difference(const double* f, const double* a, const double* b,
                      int n) {
    return weighted_sum<false>(f, a, b, n);
}

double weighted_distance(const double* f, const double* a, const double* b,
                         int n) {
    return weighted_sum<true>(f, a, b, n);
}

}  // namespace

extern const Kernels table;
const Kernels table{GM_NAME(GM_ISA), row_minima,     find,
                    two_smallest,    column_sums,    min_plus,
                    find_below,      dot_difference, weighted_distance};

}  // namespace groundmetric::GM_ISA
