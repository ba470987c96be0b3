#include "transport/cost.h"

#include <algorithm>
#include <cmath>

#include "base/kernels.h"

namespace groundmetric {
namespace {

// The exponent that the largest cost gets: 0, unless the smallest would then
// lose digits for being so small. Sums of the largest stay far below kHuge.
int level_for(int largest, int smallest) {
    constexpr int kLowest = -1022, kHighest = 800;
    return std::clamp(kLowest - (smallest - largest), 0, kHighest);
}

}  // namespace

template <class Entry>
CostMatrix::CostMatrix(int m, int n, Entry entry)
    : n_rows_(m),
      n_columns_(n),
      stride_(spread(n)),
      scaled_(static_cast<std::size_t>(m) * stride_) {
    double largest = 0.0, smallest = kHuge;
    bool has_infinite = false;
    for (int p = 0; p < m; ++p)
        for (int q = 0; q < n; ++q) {
            const double size = std::abs(double{entry(p, q)});
            if (std::isinf(size)) {
                has_infinite = true;
                continue;
            }
            largest = std::max(largest, size);
            if (size > 0.0) smallest = std::min(smallest, size);
        }
    int exponent = 0;
    std::frexp(largest, &exponent);  // largest < 2^exponent
    const int level = level_for(exponent - 1, std::ilogb(smallest));
    largest_ = std::ldexp(1.0, level);
    scale_ = std::ldexp(1.0, exponent - 1 - level);
    if (has_infinite) forbidden_ = 8.0 * std::min(m, n) * largest_;
    // 1 / scale, in two factors, since it may be out of range.
    const int wanted = level + 1 - exponent, half = wanted / 2;
    const double first = std::ldexp(1.0, half);
    const double second = std::ldexp(1.0, wanted - half);
    for (int p = 0; p < m; ++p) {
        double* to = scaled_.data() + static_cast<std::int64_t>(p) * stride_;
        for (int q = 0; q < n; ++q)
            to[q] = std::isinf(entry(p, q)) ? forbidden_
                                            : entry(p, q) * first * second;
        std::fill(to + n, to + stride_, kHuge);
    }
}

template <class Number>
CostMatrix::CostMatrix(const Number* cost, int m, int n)
    : CostMatrix(m, n, [cost, n](int p, int q) {
          return cost[static_cast<std::int64_t>(p) * n + q];
      }) {}

template <class Number>
CostMatrix::CostMatrix(const Number* cost, int n, const std::vector<int>& rows,
                       const std::vector<int>& columns)
    : CostMatrix(
          static_cast<int>(rows.size()), static_cast<int>(columns.size()),
          [&](int p, int q) {
              return cost[static_cast<std::int64_t>(rows[p]) * n + columns[q]];
          }) {}

template CostMatrix::CostMatrix(const float*, int, int);
template CostMatrix::CostMatrix(const double*, int, int);
template CostMatrix::CostMatrix(const float*, int, const std::vector<int>&,
                                const std::vector<int>&);
template CostMatrix::CostMatrix(const double*, int, const std::vector<int>&,
                                const std::vector<int>&);

bool CostMatrix::has_zero_diagonal() const {
    if (!is_square()) return false;
    for (int p = 0; p < n_rows_; ++p)
        if (row(p)[p] != 0.0) return false;
    return true;
}

void CostMatrix::for_each_detour(int n_threads, const Poll& poll,
                                 const Visit& visit) const {
    constexpr int kBlock = 32;
    std::atomic<bool> is_over{false};
    const Body body = [&](std::int64_t block, int, StopToken&) {
        if (is_over) return;
        const int begin = static_cast<int>(block) * kBlock;
        const int n_rows = std::min(kBlock, n_rows_ - begin);
        std::vector<double> detours(static_cast<std::size_t>(n_rows) * stride_,
                                    kHuge);
        kernels().min_plus(row(begin), scaled_.data(), stride_, n_rows_, n_rows,
                           stride_, detours.data());
        for (int i = 0; i < n_rows; ++i)
            if (!visit(begin + i,
                       detours.data() + static_cast<std::size_t>(i) * stride_))
                is_over = true;
    };
    // Below a few hundred bins a thread costs more than it saves.
    constexpr int kWorthThreads = 256;
    parallel_for((n_rows_ + kBlock - 1) / kBlock,
                 n_rows_ < kWorthThreads ? 1 : n_threads, 1, poll, body);
}

void CostMatrix::find_detours(int n_threads, const Poll& poll,
                              double* detours) const {
    for_each_detour(n_threads, poll, [&](int p, const double* scaled) {
        for (int q = 0; q < n_columns_; ++q)
            detours[static_cast<std::int64_t>(p) * n_columns_ + q] =
                scaled[q] * scale_;
        return true;
    });
}

bool CostMatrix::has_shortcut(int p, const double* detours) const {
    for (int q = 0; q < n_columns_; ++q) {
        const double direct = row(p)[q];
        if (direct > detours[q] + kTolerance * std::abs(direct)) return true;
    }
    return false;
}

// Of the costs that break the triangle inequality, most do so in every row.
bool CostMatrix::has_obvious_shortcut() const {
    constexpr int kRows = 4;
    std::vector<double> first(static_cast<std::size_t>(kRows) * stride_);
    std::vector<double> detours(first.size(), kHuge);
    const auto chosen = [this](int k) { return k * (n_rows_ - 1) / kRows; };
    for (int k = 0; k < kRows; ++k)
        std::copy_n(row(chosen(k)), stride_,
                    first.data() + static_cast<std::int64_t>(k) * stride_);
    kernels().min_plus(first.data(), scaled_.data(), stride_, n_rows_, kRows,
                       stride_, detours.data());
    for (int k = 0; k < kRows; ++k)
        if (has_shortcut(chosen(k), detours.data() +
                                        static_cast<std::int64_t>(k) * stride_))
            return true;
    return false;
}

bool CostMatrix::is_quasimetric(int n_threads, const Poll& poll) const {
    if (quasimetric_ >= 0) return quasimetric_ == 1;
    if (!has_zero_diagonal()) return false;
    std::atomic<bool> broken{has_obvious_shortcut()};
    if (!broken)
        for_each_detour(n_threads, poll, [&](int p, const double* detours) {
            if (has_shortcut(p, detours)) broken = true;
            return !broken;
        });
    quasimetric_ = !broken;
    return !broken;
}

Stay CostMatrix::may_mass_stay(std::int64_t n_solves, int n_threads,
                               const Poll& poll) const {
    // All triangles take about as long as checking the potentials of n_worth
    // solves, two passes over the matrix for each.
    const std::int64_t n_worth = n_rows_ / 8;
    if (quasimetric_ >= 0 || n_solves >= n_worth)
        return is_quasimetric(n_threads, poll) ? Stay::yes : Stay::no;
    // A proof by potentials would be as coarse as those of forbidden arcs.
    if (has_forbidden()) return Stay::no;
    return !has_zero_diagonal() || has_obvious_shortcut() ? Stay::no
                                                          : Stay::unknown;
}

}  // namespace groundmetric
