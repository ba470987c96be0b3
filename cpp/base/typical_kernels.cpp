// Compiled once for each instruction set, with GM_ISA naming it: see vectors.h.
#include "base/typical_kernels.h"

#include "base/vectors.h"

namespace groundmetric::GM_ISA {
namespace {

constexpr int kParts = kLanes / kWidth;
constexpr int kRows = 4;  // rows that share the loads of one column
static_assert(kLanes % kRows == 0);

// The kLanes partial sums of a row, always added up in this order.
inline double total(const Vector* parts) {
    double x[kLanes];
    for (int k = 0; k < kParts; ++k) store(x + k * kWidth, parts[k]);
    return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}

// Symmetric in x and y to the last bit.
inline Vector entry(double x, Vector y, double eps) {
    return 1.0 / ((x + y) + eps * (x * y));
}

void evaluate(const double* x, const double* y, double eps, int n_rows,
              int stride, double* table, double* row_sums, double* row_squares,
              double* column_sums, double* column_squares) {
    for (int i = 0; i < n_rows; i += kRows) {
        Vector sums[kRows][kParts] = {}, squares[kRows][kParts] = {};
        for (int j = 0; j < stride; j += kLanes) {
            for (int k = 0; k < kParts; ++k) {
                const int at = j + k * kWidth;
                const Vector column = load(y + at);
                Vector t[kRows], t2[kRows];
                for (int a = 0; a < kRows; ++a) {
                    t[a] = entry(x[i + a], column, eps);
                    t2[a] = t[a] * t[a];
                    store(table + (long long)(i + a) * stride + at, t[a]);
                    sums[a][k] += t[a];
                    squares[a][k] += t2[a];
                }
                store(column_sums + at,
                      load(column_sums + at) + ((t[0] + t[1]) + (t[2] + t[3])));
                store(column_squares + at,
                      load(column_squares + at) +
                          ((t2[0] + t2[1]) + (t2[2] + t2[3])));
            }
        }
        for (int a = 0; a < kRows; ++a) {
            row_sums[i + a] = total(sums[a]);
            row_squares[i + a] = total(squares[a]);
        }
    }
}

void times(const double* table, double eps, const double* v, int n_rows,
           int stride, double* product) {
    for (int i = 0; i < n_rows; i += kRows) {
        Vector sums[kRows][kParts] = {};
        for (int j = 0; j < stride; j += kLanes) {
            for (int k = 0; k < kParts; ++k) {
                const int at = j + k * kWidth;
                const Vector column = load(v + at);
                for (int a = 0; a < kRows; ++a) {
                    const Vector t =
                        load(table + (long long)(i + a) * stride + at);
                    sums[a][k] += t * (t + eps) * column;
                }
            }
        }
        for (int a = 0; a < kRows; ++a) product[i + a] = total(sums[a]);
    }
}

void transposed_times(const double* table, double eps, const double* v,
                      int n_rows, int stride, double* product) {
    for (int i = 0; i < n_rows; i += kRows) {
        for (int j = 0; j < stride; j += kWidth) {
            Vector w[kRows];
            for (int a = 0; a < kRows; ++a) {
                const Vector t = load(table + (long long)(i + a) * stride + j);
                w[a] = t * (t + eps) * v[i + a];
            }
            store(product + j,
                  load(product + j) + ((w[0] + w[1]) + (w[2] + w[3])));
        }
    }
}

void add_row(double x, const double* y, double eps, double weight, int n,
             double* sums) {
    int j = 0;
    for (; j + kWidth <= n; j += kWidth)
        store(sums + j, load(sums + j) + weight * entry(x, load(y + j), eps));
    for (; j < n; ++j)
        sums[j] += weight * (1.0 / ((x + y[j]) + eps * (x * y[j])));
}

}  // namespace

extern const TypicalKernels typical_table;
const TypicalKernels typical_table{evaluate, times, transposed_times, add_row};

}  // namespace groundmetric::GM_ISA
