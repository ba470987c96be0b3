#include "transport/smoothed_problem.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/kernels.h"
#include "base/row_blocks.h"
#include "base/smooth_kernels.h"

namespace groundmetric {
namespace {

// The first eps, of the spread of the costs, and the rounds for each.
constexpr double kFirst = 1.0;
constexpr int kRounds = 5;
constexpr double kDivisor = 4.0;  // what SmoothKernels::sharpen stands for
// How often eps is divided: more columns are closer to each other in cost.
int n_divisions(int n_columns) {
    return n_columns <= 128 ? 2 : n_columns <= 512 ? 3 : 4;
}
// Rows and columns that stand for all.
constexpr int kSample = 16;
constexpr int kNearRows = 64;
// Keeps products of a factor and an entry of the kernel in range.
constexpr float kLowFactor = 1e-6f, kHighFactor = 1e6f;
constexpr float kLeastMass = 1e-20f;
// Small problems only want the leaves of the tree, large ones also arcs to
// price.
float least_share(std::int64_t n_arcs) {
    return n_arcs > 1 << 17 ? 0.01f : 0.05f;
}
constexpr int kBuckets = 256;
int bucket_of(float share) {
    return static_cast<int>((1.0f - share) * (kBuckets - 1));
}

// log2, to four digits: the same on every machine, unlike that of a library.
double rough_log2(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const double m = std::bit_cast<float>((bits & 0x7fffffu) | 0x3f800000u);
    const double log =
        -2.496846 +
        m * (4.028548 + m * (-2.081214 + m * (0.628874 - m * 0.079158)));
    return static_cast<double>(bits >> 23) - 127.0 + log;
}

int every(int n, int sample) { return std::max(1, n / sample); }

}  // namespace

void SmoothedProblem::set_margins(const Problem& problem) {
    n_rows_ = problem.n_rows();
    n_columns_ = problem.n_columns();
    stride_ = padded_floats(n_columns_);
    double total = 0.0;
    for (const Mass mass : problem.demand) total += to_double(mass);
    const double scale = n_columns_ / total;
    const auto to_floats = [scale](const std::vector<Mass>& masses,
                                   std::vector<float>& floats) {
        std::transform(
            masses.begin(), masses.end(), floats.begin(), [scale](Mass mass) {
                return std::max(kLeastMass,
                                static_cast<float>(to_double(mass) * scale));
            });
    };
    supply_.resize(problem.supply.size());
    demand_.assign(static_cast<std::size_t>(stride_), 0.0f);
    to_floats(problem.supply, supply_);
    to_floats(problem.demand, demand_);
    row_factor_.resize(problem.supply.size());
    column_factor_.assign(static_cast<std::size_t>(stride_), 0.0f);
    least_.resize(problem.supply.size());
    blocks_.resize(static_cast<std::size_t>(n_row_blocks(n_rows_)));
    for (Block& block : blocks_) {
        block.column_sum.resize(static_cast<std::size_t>(stride_));
        block.columns.resize(static_cast<std::size_t>(stride_));
        block.column_shares.resize(static_cast<std::size_t>(stride_));
    }
}

// Minus the smallest of some entries of the column, so that one that is far
// from all rows is not out of range.
void SmoothedProblem::set_offset(const Problem& problem) {
    offset.assign(static_cast<std::size_t>(problem.stride), 0.0);
    std::fill_n(offset.begin(), n_columns_, -kHuge);
    for (int i = 0; i < n_rows_; i += every(n_rows_, kNearRows)) {
        const double* cost = problem.cost_row(i);
        for (int j = 0; j < n_columns_; ++j)
            offset[j] = std::max(offset[j], -cost[j]);
    }
}

// The lower quartile of the costs above the smallest of their row: prohibitive
// costs do not affect it.
double SmoothedProblem::spread_of_costs(const Problem& problem) const {
    double above[kSample * kSample];
    int n = 0;
    const int row_step = (n_rows_ + kSample - 1) / kSample;
    const int column_step = (n_columns_ + kSample - 1) / kSample;
    double sum = 0.0;
    for (int i = 0; i < n_rows_; i += row_step)
        for (int j = 0; j < n_columns_; j += column_step) {
            above[n] = problem.cost_row(i)[j] + offset[j] - least_[i];
            sum += above[n++];
        }
    std::nth_element(above, above + n / 4, above + n);
    return above[n / 4] > 0.0 ? above[n / 4] : sum / n;
}

void SmoothedProblem::set_kernel(const Problem& problem, double eps,
                                 StopToken& stop) {
    constexpr double kLog2E = 1.4426950408889634;
    kernel_.resize(static_cast<std::size_t>(n_rows_) * stride_);
    const int n = padded(n_columns_);
    for_row_blocks(n_rows_, stride_, stop, [&](int begin, int end) {
        for (int i = begin; i < end; ++i) {
            smooth_kernels().soften(problem.cost_row(i), offset.data(),
                                    least_[i], kLog2E / eps, n, row(i));
            std::fill(row(i) + n, row(i) + stride_, 0.0f);
        }
    });
}

void SmoothedProblem::balance(StopToken& stop) {
    std::fill_n(column_factor_.begin(), n_columns_, 1.0f);
    for (int round = 0; round < kRounds; ++round) {
        for_row_blocks(n_rows_, stride_, stop, [&](int begin, int end) {
            std::vector<float>& sum = blocks_[begin / kRowBlock].column_sum;
            std::fill(sum.begin(), sum.end(), begin == 0 ? kLeastMass : 0.0f);
            smooth_kernels().balance(
                row(begin), stride_, end - begin, column_factor_.data(),
                supply_.data() + begin, row_factor_.data() + begin, sum.data());
        });
        std::vector<float>& total = blocks_[0].column_sum;
        for (std::size_t k = 1; k < blocks_.size(); ++k)
            for (int j = 0; j < n_columns_; ++j)
                total[j] += blocks_[k].column_sum[j];
        for (int j = 0; j < n_columns_; ++j)
            column_factor_[j] =
                std::clamp(demand_[j] / total[j], kLowFactor, kHighFactor);
    }
}

void SmoothedProblem::absorb(double eps) {
    constexpr double kLog2 = 0.6931471805599453;
    for (int j = 0; j < n_columns_; ++j)
        offset[j] -= eps * kLog2 * rough_log2(column_factor_[j]);
}

void SmoothedProblem::sharpen(StopToken& stop) {
    for_row_blocks(n_rows_, stride_, stop, [&](int begin, int end) {
        for (int i = begin; i < end; ++i)
            smooth_kernels().sharpen(row(i), column_factor_.data(), stride_);
    });
}

// Sorted by counting.
void SmoothedProblem::find_shares(StopToken& stop) {
    const float least =
        least_share(static_cast<std::int64_t>(n_rows_) * n_columns_);
    for_row_blocks(n_rows_, stride_, stop, [&](int begin, int end) {
        Block& block = blocks_[begin / kRowBlock];
        block.shares.clear();
        for (int i = begin; i < end; ++i) {
            const int n = smooth_kernels().find_shares(
                row(i), stride_, column_factor_.data(), demand_.data(),
                row_factor_[i], supply_[i], least, block.columns.data(),
                block.column_shares.data());
            for (int k = 0; k < n; ++k)
                block.shares.push_back(
                    {i, block.columns[k], bucket_of(block.column_shares[k])});
        }
    });
    int first[kBuckets + 1] = {};
    for (const Block& block : blocks_)
        for (const Share& share : block.shares) ++first[share.bucket + 1];
    for (int k = 0; k < kBuckets; ++k) first[k + 1] += first[k];
    shares.resize(static_cast<std::size_t>(first[kBuckets]));
    for (const Block& block : blocks_)
        for (const Share& share : block.shares)
            shares[first[share.bucket]++] = share;
}

void SmoothedProblem::solve(const Problem& problem, StopToken& stop) {
    set_margins(problem);
    set_offset(problem);
    for_row_blocks(n_rows_, stride_, stop, [&](int begin, int end) {
        kernels().row_minima(problem.cost_row(begin), problem.stride,
                             offset.data(), end - begin, least_.data() + begin);
    });
    shares.clear();
    double eps = kFirst * spread_of_costs(problem);
    if (eps <= 0.0) return;  // all costs are equal
    set_kernel(problem, eps, stop);
    for (int n_left = n_divisions(n_columns_);; --n_left) {
        balance(stop);
        absorb(eps);
        if (n_left == 0) break;
        sharpen(stop);
        eps /= kDivisor;
    }
    find_shares(stop);
}

}  // namespace groundmetric
