// Typical tables of U(r, c) (Barvinok): the center of the transport polytope.
//
// The typical table of total mass N maximizes
//     sum_pq (X_pq + 1) ln(X_pq + 1) - X_pq ln X_pq  over X in U(N r, N c),
// and is here divided by N. In the dual (P5 of the paper)
//     X_pq = 1 / expm1(u_p + v_q);
// with x_p = N expm1(u_p), y_q = N expm1(v_q) and eps = 1 / N this is
//     T_pq = 1 / (x_p + y_q + eps x_p y_q),    T 1 = r,  T' 1 = c,
// for every N, and eps = 0 is the analytic center (N = inf). The duals are
// unique up to (u + t, v - t). Kept such that min x = min y, all are positive:
// no entry loses digits to cancellation, and none needs an exponential.
#pragma once

#include <cmath>
#include <functional>
#include <vector>

#include "base/parallel.h"
#include "base/typical_kernels.h"

namespace groundmetric {

// The larger, or NaN if either is.
inline double worse(double a, double b) {
    return a < b || std::isnan(b) ? b : a;
}

// Solves one pair after another in the same memory. Each thread has its own,
// aligned such that no two share a cache line.
class alignas(128) TypicalTable {
public:
    // Finds the table of r and c, both of length d and rescaled to mass 1, for
    // 0 < total <= inf. Returns the certificate: the largest relative error
    // of a margin, that is the gradient of the dual,
    //     max(|(T 1)_p / r_p - 1|, |(T' 1)_q / c_q - 1|), non-empty bins only.
    // The result for (c, r) is the transpose, to the last bit.
    double solve(const double* r, const double* c, int d, double total,
                 StopToken& stop);

    // sum_pq += weight T_pq, for a row-major d x d sum.
    void add_to(double* sum, double weight, StopToken& stop) const;

private:
    // Eight numbers, aligned for vector loads.
    struct alignas(64) Lanes {
        double value[kLanes];
    };
    class Array {
    public:
        void resize(int n) { lanes_.resize(padded(n) / kLanes); }
        operator double*() { return lanes_.data()->value; }
        operator const double*() const { return lanes_.data()->value; }

    private:
        std::vector<Lanes> lanes_;
    };

    // What belongs to the rows, or to the columns; empty bins are left out.
    // Arrays are padded; the padding of `dual` is so large that T is 0 there.
    struct Side {
        std::vector<int> bin;  // ascending
        Array mass;            // r
        Array dual;            // x
        Array margin;          // T 1
        Array slope;    // W 1 with W = T (T + eps): the Hessian's diagonal
        Array excess;   // T 1 - r: minus the gradient
        Array step;     // of N u
        Array product;  // W times a vector

        int size() const { return static_cast<int>(bin.size()); }
        void assign(const double* histogram, int d);
        double smallest_dual() const;
        double sum_of_squares() const;
        double error() const;
        void shift_dual(double from, double to, double eps);
    };

    void start();
    void set_largest_entry(double inverse);
    void for_row_blocks(StopToken& stop,
                        const std::function<void(int first, int n_rows)>& task);
    void evaluate(StopToken& stop);
    void find_direction(double error, StopToken& stop);
    void solve_schur(double goal, StopToken& stop);
    double center_residual();
    double multiply_schur(StopToken& stop);
    void multiply(const double* v, double* product, StopToken& stop);
    void move();
    void balance_step();
    double safe_length() const;

    int d_ = 0;
    double eps_ = 0;
    bool transposed_ = false;  // rows_ holds c
    bool symmetric_ = false;   // r = c, and so x = y
    Side rows_, columns_;
    Array table_;
    Array residual_, conjugate_;
};

}  // namespace groundmetric
