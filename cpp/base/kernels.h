// The vectorized inner loops, chosen once for the CPU.
//
// kernels.cpp is compiled several times, once for each instruction set, and
// kernels() returns the best table that this CPU can run. Every table performs
// the same floating-point operations in the same order, so results do not
// depend on the CPU: only the speed does.
#pragma once

namespace groundmetric {

// Rows of cost matrices are padded to a multiple of kLanes entries.
inline constexpr int kLanes = 8;
// Of single precision, to a multiple of kFloatLanes.
inline constexpr int kFloatLanes = 16;

// Stands for infinity, in padding and for closed columns. Finite, so that
// comparisons vectorize; costs are scaled to the order of 1.
inline constexpr double kHuge = 1e300;

constexpr int padded(int n) { return (n + kLanes - 1) / kLanes * kLanes; }
constexpr int padded_floats(int n) {
    return (n + kFloatLanes - 1) / kFloatLanes * kFloatLanes;
}

// The same, rounded up to an odd number of vectors, so that the entries of a
// column spread over all sets of the cache.
constexpr int spread(int n) { return padded(n) | kLanes; }

struct Kernels {
    const char* name;

    // minima[i] = min_j cost[i * stride + j] + offset[j],  0 <= i < n_rows.
    void (*row_minima)(const double* cost, int stride, const double* offset,
                       int n_rows, double* minima);

    // The first j with row[j] + offset[j] == value, or stride if there is none.
    int (*find)(const double* row, const double* offset, int stride,
                double value);

    // first <= second: the two smallest values of row[j] + offset[j].
    void (*two_smallest)(const double* row, const double* offset, int stride,
                         double* first, double* second);

    // sums[j] = sum_i cost[i * stride + j].
    void (*column_sums)(const double* cost, int stride, int n_rows,
                        double* sums);

    // best_i[j] = min(best_i[j], first_i[k] + second_k[j] over k < n): n_rows
    // rows and n_columns (a multiple of kLanes) columns of a min-plus product.
    // Rows of all three matrices are stride apart.
    void (*min_plus)(const double* first, const double* second, int stride,
                     int n, int n_rows, int n_columns, double* best);

    // Writes the j with row[j] + offset[j] < bound, rising, and returns how
    // many there are.
    int (*find_below)(const double* row, const double* offset, int stride,
                      double bound, int* found);

    // sum_p f[p] (a[p] - b[p]) and sum_p f[p] |a[p] - b[p]|, n a multiple of
    // kLanes. Summed in kLanes lanes, whatever the width of a register is.
    double (*dot_difference)(const double* f, const double* a, const double* b,
                             int n);
    double (*weighted_distance)(const double* f, const double* a,
                                const double* b, int n);
};

// The table for this CPU. The environment variable GROUNDMETRIC_ISA (baseline,
// avx2 or avx512), read once, selects a lower one.
const Kernels& kernels();

}  // namespace groundmetric
