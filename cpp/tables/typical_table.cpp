#include "tables/typical_table.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace groundmetric {
namespace {

// Newton's method stops at kTolerance, far below the promised 1e-10, or at
// kMaxSteps, far more than any table in the tests needs.
constexpr double kTolerance = 1e-12;
constexpr int kMaxSteps = 100;

// Relative errors of the margins that count as rounding.
constexpr double kRounding = 2e-16;

// Below this total the table is the independence table to the last bit.
constexpr double kLeastTotal = 1e-18;

// Rows are the side with fewer bins; ties are broken by the masses, so that
// (r, c) and (c, r) are the same problem.
bool comes_first(const double* r, const double* c, int d) {
    const auto empty_r = std::count(r, r + d, 0.0);
    const auto empty_c = std::count(c, c + d, 0.0);
    if (empty_r != empty_c) return empty_r > empty_c;
    return !std::lexicographical_compare(c, c + d, r, r + d);
}

double sum(const double* x, int n) { return std::accumulate(x, x + n, 0.0); }

}  // namespace

double TypicalTable::solve(const double* r, const double* c, int d,
                           double total, StopToken& stop) {
    d_ = d;
    eps_ = 1 / std::max(total, kLeastTotal);
    transposed_ = !comes_first(r, c, d);
    symmetric_ = std::equal(r, r + d, c);
    rows_.assign(transposed_ ? c : r, d);
    columns_.assign(transposed_ ? r : c, d);
    const int n = rows_.size(), m = columns_.size();
    table_.resize(padded(n) * padded(m));
    residual_.resize(n);
    conjugate_.resize(n);
    std::fill_n(static_cast<double*>(conjugate_), padded(n), 0.0);

    start();
    for (int n_steps = 0;; ++n_steps) {
        evaluate(stop);
        const double error = worse(rows_.error(), columns_.error());
        if (error <= kTolerance || n_steps == kMaxSteps) return error;
        find_direction(error, stop);
        move();
    }
}

// To first order in N = 1 / eps, and for all N if r or c is uniform,
//     (1 + eps x_p)(1 + eps y_q) = A_p B_q / (1 + eps / (|r|^2 |c|^2)),
//     A_p = 1 + eps / (r_p |c|^2),  B_q = 1 + eps / (|r|^2 c_q).
// For large N that may leave no positive x, y: then only the ratios of the
// A_p and B_q are used, with a guess of the largest entry of T that is right
// if r or c has one bin.
void TypicalTable::start() {
    const double r2 = rows_.sum_of_squares(), c2 = columns_.sum_of_squares();
    for (int i = 0; i < rows_.size(); ++i)
        rows_.dual[i] = 1 / (rows_.mass[i] * c2);
    for (int j = 0; j < columns_.size(); ++j)
        columns_.dual[j] = 1 / (r2 * columns_.mass[j]);
    const double a = rows_.smallest_dual(), b = columns_.smallest_dual();
    const double q = 1 / (r2 * c2);
    const double expansion = (a + b + eps_ * a * b - q) / (1 + eps_ * q);
    set_largest_entry(std::max(expansion, a * c2 + b * r2 - 1));
}

// Shifts u and v such that min x = min y and min(x_p + y_q + eps x_p y_q) is
// the given inverse of the largest entry.
void TypicalTable::set_largest_entry(double inverse) {
    const double to = inverse / (1 + std::sqrt(1 + eps_ * inverse));
    rows_.shift_dual(rows_.smallest_dual(), to, eps_);
    columns_.shift_dual(columns_.smallest_dual(), to, eps_);
}

// The kernels process a few rows at a time, so that even one huge table polls.
void TypicalTable::for_row_blocks(
    StopToken& stop, const std::function<void(int first, int n_rows)>& task) {
    constexpr int kEntries = 1 << 22;
    const int n = padded(rows_.size()), m = padded(columns_.size());
    const int block = std::max(1, kEntries / m / kLanes) * kLanes;
    for (int first = 0; first < n; first += block) {
        stop.check();
        task(first, std::min(block, n - first));
    }
}

void TypicalTable::evaluate(StopToken& stop) {
    const int m = padded(columns_.size());
    for (Array* sums : {&columns_.margin, &columns_.slope})
        std::fill_n(static_cast<double*>(*sums), m, 0.0);
    for_row_blocks(stop, [&](int i, int n_rows) {
        typical_kernels().evaluate(rows_.dual + i, columns_.dual, eps_, n_rows,
                                   m, table_ + static_cast<std::int64_t>(i) * m,
                                   rows_.margin + i, rows_.slope + i,
                                   columns_.margin, columns_.slope);
    });
    for (Side* side : {&rows_, &columns_}) {
        for (int i = 0; i < side->size(); ++i) {
            side->slope[i] += eps_ * side->margin[i];
            side->excess[i] = side->margin[i] - side->mass[i];
        }
    }
}

// Columns are eliminated: with D_r, D_c the diagonals and S = D_r - W D_c^-1 W'
//     S du = (T 1 - r) - W D_c^-1 (T' 1 - c),
//     dv = D_c^-1 ((T' 1 - c) - W' du).
// The residual is the error that a full step leaves, to first order, in the
// margins of rows; those of columns get none. So it need not be smaller than
// the square of the error now.
void TypicalTable::find_direction(double error, StopToken& stop) {
    const int n = rows_.size(), m = columns_.size();
    double *const du = rows_.step, *const dv = columns_.step;
    for (int j = 0; j < m; ++j) dv[j] = columns_.excess[j] / columns_.slope[j];
    multiply(dv, rows_.product, stop);
    for (int i = 0; i < n; ++i) {
        du[i] = conjugate_[i] = 0;
        residual_[i] = rows_.excess[i] - rows_.product[i];
    }
    solve_schur(std::max(0.1 * kTolerance, error * std::min(error, 0.03)),
                stop);
    if (symmetric_)
        for (int i = 0; i < n; ++i) du[i] = dv[i] = (du[i] + dv[i]) / 2;
}

// Conjugate gradients from du = 0, preconditioned by D_r, until no entry of the
// residual exceeds goal * r. Once all that is left is rounding in the large
// bins, small ones may still be wrong by much of their mass: D_r corrects them.
void TypicalTable::solve_schur(double goal, StopToken& stop) {
    const int n = rows_.size();
    double noise = 0, energy = 0;
    for (int i = 0; i < n; ++i) {
        const double rounding = kRounding * rows_.mass[i];
        noise += rounding * rounding / rows_.slope[i];
    }
    for (int k = 0; k < n + 10; ++k) {
        const double previous = energy;
        energy = center_residual();
        double left = 0;
        for (int i = 0; i < n; ++i)
            left = std::max(left, std::abs(residual_[i]) / rows_.mass[i]);
        if (left <= goal) break;
        if (energy <= noise) {
            for (int i = 0; i < n; ++i)
                rows_.step[i] += residual_[i] / rows_.slope[i];
            break;
        }
        const double keep = k > 0 ? energy / previous : 0;
        for (int i = 0; i < n; ++i)
            conjugate_[i] =
                residual_[i] / rows_.slope[i] + keep * conjugate_[i];
        const double curvature = multiply_schur(stop);
        if (!(curvature > 0)) break;
        const double length = energy / curvature;
        for (int i = 0; i < n; ++i) {
            rows_.step[i] += length * conjugate_[i];
            residual_[i] -= length * rows_.product[i];
        }
        for (int j = 0; j < columns_.size(); ++j)
            columns_.step[j] -= length * columns_.product[j];
    }
}

// S 1 = 0, so the residual must sum to 0: takes the rounding in its sum mostly
// from large bins. Returns residual' D_r^-1 residual.
double TypicalTable::center_residual() {
    const int n = rows_.size();
    const double mean = sum(residual_, n) / sum(rows_.slope, n);
    double energy = 0;
    for (int i = 0; i < n; ++i) {
        residual_[i] -= mean * rows_.slope[i];
        energy += residual_[i] * residual_[i] / rows_.slope[i];
    }
    return energy;
}

// For p the conjugate direction, columns_.product = D_c^-1 W' p and
// rows_.product = S p. Returns p' S p.
double TypicalTable::multiply_schur(StopToken& stop) {
    const int n = rows_.size(), m = columns_.size();
    std::fill_n(static_cast<double*>(columns_.product), padded(m), 0.0);
    for_row_blocks(stop, [&](int i, int n_rows) {
        typical_kernels().transposed_times(
            table_ + static_cast<std::int64_t>(i) * padded(m), eps_,
            conjugate_ + i, n_rows, padded(m), columns_.product);
    });
    for (int j = 0; j < m; ++j) columns_.product[j] /= columns_.slope[j];
    multiply(columns_.product, rows_.product, stop);
    double curvature = 0;
    for (int i = 0; i < n; ++i) {
        rows_.product[i] = rows_.slope[i] * conjugate_[i] - rows_.product[i];
        curvature += conjugate_[i] * rows_.product[i];
    }
    return curvature;
}

// product = W v.
void TypicalTable::multiply(const double* v, double* product, StopToken& stop) {
    const int m = padded(columns_.size());
    for_row_blocks(stop, [&](int i, int n_rows) {
        typical_kernels().times(table_ + static_cast<std::int64_t>(i) * m, eps_,
                                v, n_rows, m, product + i);
    });
}

// (u, v) moves by t (du, dv); then min x = min y again.
void TypicalTable::move() {
    balance_step();
    const double t = safe_length();
    for (Side* side : {&rows_, &columns_}) {
        for (int i = 0; i < side->size(); ++i) {
            const double h = t * side->step[i];
            const double rise = eps_ > 0 ? std::expm1(eps_ * h) / eps_ : h;
            side->dual[i] += (1 + eps_ * side->dual[i]) * rise;
        }
    }
    const double a = rows_.smallest_dual(), b = columns_.smallest_dual();
    set_largest_entry(a + b + eps_ * a * b);
}

// (du + s, dv - s) is as good a step: takes s such that the smallest x and the
// smallest y, which are equal, move alike.
void TypicalTable::balance_step() {
    const auto smallest = [](const Side& side) {
        const double* const x = side.dual;
        return std::min_element(x, x + side.size()) - x;
    };
    const double s =
        (columns_.step[smallest(columns_)] - rows_.step[smallest(rows_)]) / 2;
    for (int i = 0; i < rows_.size(); ++i) rows_.step[i] += s;
    for (int j = 0; j < columns_.size(); ++j) columns_.step[j] -= s;
}

// A length t at which the dual surely still falls. Let the entry X = N T move
// by eta = -eps (du_p + dv_q) > 0. Its term's slope changes by X(t) - X(0),
// which is at most what Newton's quadratic model gives for t = 1, if and only
// if
//     t <= log1p(eta / (1 + eta X)) / eta.
// (Terms with eta < 0 stay below the model.) The bound falls with eta and with
// eta X <= rho = max(-du_p / x_p, -dv_q / y_q), so take the largest of both.
// All x and y stay positive; 1 - t is of the order of the step: convergence is
// quadratic. For eps = 0 this is 1 / (1 + rho).
double TypicalTable::safe_length() const {
    double rho = 0, eta = 0;
    for (const Side* side : {&rows_, &columns_}) {
        double largest = 0;
        for (int i = 0; i < side->size(); ++i) {
            largest = std::max(largest, -side->step[i]);
            rho = std::max(rho, -side->step[i] / side->dual[i]);
        }
        eta += eps_ * largest;
    }
    return eta > 0 ? std::log1p(eta / (1 + rho)) / eta : 1 / (1 + rho);
}

void TypicalTable::add_to(double* sum, double weight, StopToken& stop) const {
    const TypicalKernels& kernels = typical_kernels();
    const Side& rows = transposed_ ? columns_ : rows_;
    const Side& columns = transposed_ ? rows_ : columns_;
    const int m = columns.size();
    std::vector<double> row(m < d_ ? m : 0);  // without the empty bins
    for (int i = 0; i < rows.size(); ++i) {
        if (i % 64 == 0) stop.check();
        double* const to = sum + static_cast<std::int64_t>(rows.bin[i]) * d_;
        const double x = rows.dual[i];
        if (m == d_) {
            kernels.add_row(x, columns.dual, eps_, weight, m, to);
            continue;
        }
        std::fill(row.begin(), row.end(), 0.0);
        kernels.add_row(x, columns.dual, eps_, weight, m, row.data());
        for (int j = 0; j < m; ++j) to[columns.bin[j]] += row[j];
    }
}

}  // namespace groundmetric
