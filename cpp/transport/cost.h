// The ground metric, or any other matrix of real costs between bins: those of
// the sending histogram in rows, those of the receiving one in columns.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/kernels.h"
#include "base/parallel.h"

namespace groundmetric {

// Whether mass common to two histograms may stay where it is.
enum class Stay { no, unknown, yes };

class CostMatrix {
public:
    // Copies an m x n matrix of numbers, finite or +inf, padded, and scaled by
    // a power of two (so exactly) such that the largest is in [1, 2) in
    // absolute value, or in 2^800 [1, 2) if costs differ so much that the
    // smallest would be out of range; those below 1e-548 of the largest lose
    // digits even then. Numbers are float or double.
    template <class Number>
    CostMatrix(const Number* cost, int m, int n);
    // The same for some rows and columns of a matrix with rows of n numbers.
    template <class Number>
    CostMatrix(const Number* cost, int n, const std::vector<int>& rows,
               const std::vector<int>& columns);

    int n_rows() const { return n_rows_; }
    int n_columns() const { return n_columns_; }
    bool is_square() const { return n_rows_ == n_columns_; }
    int stride() const { return stride_; }
    const double* row(int p) const {
        return scaled_.data() + static_cast<std::int64_t>(p) * stride_;
    }
    // Original cost = scale() * row(p)[q]; a power of two.
    double scale() const { return scale_; }
    // Arcs of infinite cost are forbidden. Scaled, they cost
    //
    //     S = 8 min(m, n) 2^k,   where all finite costs are below 2^(k + 1).
    //
    // A plan of least cost then moves no more along them than it must: if it
    // moved more than another one, their difference would have a cycle, of at
    // most min(m, n) arcs of each, that rids it of a forbidden arc, and saves
    // S/2 or more. That is far above the rounding of potentials, so S need not
    // be as large as the range of masses.
    double forbidden() const { return forbidden_; }
    bool has_forbidden() const { return forbidden_ < kHuge; }
    // The power of two up to the largest entry of all rows: 1 as a rule.
    double largest() const { return largest_; }
    // Converts a scaled cost, in units of mass, to an original cost.
    double unscaled(double cost, double unit) const {
        return std::ldexp(cost, std::ilogb(unit) + std::ilogb(scale_));
    }

    // Whether the matrix is square, with zeros on its diagonal.
    bool has_zero_diagonal() const;
    // Of a square matrix: detours[p * d + q] = min_k M_pk + M_kq, a min-plus
    // product: O(d^3).
    void find_detours(int n_threads, const Poll& poll, double* detours) const;
    // Whether mass common to two histograms may stay where it is: the diagonal
    // is zero and M_pq <= M_pk + M_kq, up to rounding of M_pq. If a plan moves
    // p -> k and k -> q, moving p -> q and leaving k alone costs no more then.
    // Neither symmetry nor positivity is needed. Computed once.
    bool is_quasimetric(int n_threads, const Poll& poll) const;
    // The same for a few solves, which are not worth O(d^3): looks at some
    // triangles only, in O(d^2), unless these solves are many. If it says
    // `unknown`, a caller that leaves common mass where it is has to prove it.
    Stay may_mass_stay(std::int64_t n_solves, int n_threads,
                       const Poll& poll) const;

private:
    // A copy of entry(p, q) for p < m, q < n.
    template <class Entry>
    CostMatrix(int m, int n, Entry entry);
    // Hands detours, scaled, to visit(p, row of them), in any order, until one
    // of these calls returns false.
    using Visit = std::function<bool(int p, const double* detours)>;
    void for_each_detour(int n_threads, const Poll& poll,
                         const Visit& visit) const;
    bool has_shortcut(int p, const double* detours) const;
    bool has_obvious_shortcut() const;

    int n_rows_, n_columns_;
    int stride_;
    double largest_, scale_;
    double forbidden_ = kHuge;
    std::vector<double> scaled_;
    mutable std::atomic<int> quasimetric_{-1};  // unknown; else 0 or 1
};

// Relative differences up to 64 units in the last place count as rounding.
inline constexpr double kTolerance = 0x1p-46;

}  // namespace groundmetric
