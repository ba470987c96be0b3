// The inner loops of typical tables, compiled once for each instruction set.
//
// All of them work on the dense table
//     T_pq = 1 / (x_p + y_q + eps x_p y_q),  eps = 1 / total,
// of n_rows rows, each stride entries long, both multiples of kLanes. Every
// sum is made in the same order on every instruction set.
#pragma once

#include "base/kernels.h"

namespace groundmetric {

struct TypicalKernels {
    // T, with its sums along rows and those of its squares; sums along columns
    // are added to those of the rows before.
    void (*evaluate)(const double* x, const double* y, double eps, int n_rows,
                     int stride, double* table, double* row_sums,
                     double* row_squares, double* column_sums,
                     double* column_squares);

    // product_p = sum_q W_pq v_q with W = T (T + eps), minus dT / d(u_p + v_q).
    void (*times)(const double* table, double eps, const double* v, int n_rows,
                  int stride, double* product);

    // product_q += sum_p W_pq v_p.
    void (*transposed_times)(const double* table, double eps, const double* v,
                             int n_rows, int stride, double* product);

    // sums_q += weight / (x + y_q + eps x y_q), q < n: here n is any number.
    void (*add_row)(double x, const double* y, double eps, double weight, int n,
                    double* sums);
};

// The table for this CPU, as kernels() of kernels.h.
const TypicalKernels& typical_kernels();

}  // namespace groundmetric
