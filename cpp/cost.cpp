#include "cost.h"

#include <algorithm>
#include <cmath>

#include "kernels.h"

namespace groundmetric {

namespace {

// An odd number of cache lines, so that columns do not fall on one cache set.
int odd_lines(int d) {
    return padded(d) / kLanes % 2 == 0 ? padded(d) + kLanes : padded(d);
}

}  // namespace

CostMatrix::CostMatrix(const double* cost, int d)
    : d_(d),
      stride_(odd_lines(d)),
      scaled_(static_cast<std::size_t>(d) * stride_) {
    const std::size_t n = static_cast<std::size_t>(d) * d;
    double largest = 0.0;
    for (std::size_t k = 0; k < n; ++k)
        largest = std::max(largest, std::abs(cost[k]));
    int exponent = 0;
    std::frexp(largest, &exponent);  // largest < 2^exponent
    scale_ = std::ldexp(1.0, exponent - 1);
    // 1 / scale, in two factors: it may itself be out of range.
    const int half = (1 - exponent) / 2;
    const double first = std::ldexp(1.0, half);
    const double second = std::ldexp(1.0, 1 - exponent - half);
    for (int p = 0; p < d; ++p) {
        const double* from = cost + static_cast<long>(p) * d;
        double* to = scaled_.data() + static_cast<long>(p) * stride_;
        for (int q = 0; q < d; ++q) to[q] = from[q] * first * second;
        std::fill(to + d, to + stride_, kHuge);
    }
}

bool CostMatrix::has_zero_diagonal() const {
    for (int p = 0; p < d_; ++p)
        if (row(p)[p] != 0.0) return false;
    return true;
}

bool CostMatrix::is_quasimetric(int n_threads, const Poll& poll) const {
    if (!has_zero_diagonal()) return false;
    constexpr int kBlock = 32;
    std::atomic<bool> broken{false};
    const Body check = [&](std::int64_t block, int, Pulse&) {
        if (broken) return;
        const int begin = static_cast<int>(block) * kBlock;
        const int n_rows = std::min(kBlock, d_ - begin);
        std::vector<double> detour(static_cast<std::size_t>(n_rows) * stride_,
                                   kHuge);
        kernels().min_plus(row(begin), scaled_.data(), stride_, d_, n_rows,
                           detour.data());
        for (int i = 0; i < n_rows; ++i)
            for (int q = 0; q < d_; ++q) {
                const double direct = row(begin + i)[q];
                const double around =
                    detour[static_cast<std::size_t>(i) * stride_ + q];
                if (direct > around + kTolerance * std::abs(direct))
                    broken = true;
            }
    };
    // Below a few hundred bins a thread costs more than it saves.
    constexpr int kWorthThreads = 256;
    parallel_for((d_ + kBlock - 1) / kBlock, d_ < kWorthThreads ? 1 : n_threads,
                 1, poll, check);
    return !broken;
}

}  // namespace groundmetric
