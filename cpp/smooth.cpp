#include "smooth.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "kernels.h"
#include "smooth_kernels.h"

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

void SmoothPlan::set_margins(const Problem& problem) {
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
    column_sum_.resize(static_cast<std::size_t>(stride_));
    least_.resize(problem.supply.size());
    found_.resize(static_cast<std::size_t>(stride_));
    found_shares_.resize(static_cast<std::size_t>(stride_));
}

// Minus the smallest of some entries of the column, so that one that is far
// from all rows is not out of range.
void SmoothPlan::set_offset(const Problem& problem) {
    offset.assign(static_cast<std::size_t>(problem.stride), 0.0);
    std::fill_n(offset.begin(), n_columns_, -kHuge);
    for (int i = 0; i < n_rows_; i += every(n_rows_, kNearRows))
        for (int j = 0; j < n_columns_; ++j)
            offset[j] = std::max(offset[j], -problem.cost_row(i)[j]);
}

// The lower quartile of the costs above the smallest of their row: prohibitive
// costs do not affect it.
double SmoothPlan::spread_of_costs(const Problem& problem) const {
    double above[4 * kSample * kSample];
    int n = 0;
    const int row_step = every(n_rows_, kSample);
    const int column_step = every(n_columns_, kSample);
    double sum = 0.0;
    for (int i = 0; i < n_rows_; i += row_step)
        for (int j = 0; j < n_columns_; j += column_step) {
            above[n] = problem.cost_row(i)[j] + offset[j] - least_[i];
            sum += above[n++];
        }
    std::nth_element(above, above + n / 4, above + n);
    return above[n / 4] > 0.0 ? above[n / 4] : sum / n;
}

void SmoothPlan::set_kernel(const Problem& problem, double eps, Pulse& pulse) {
    constexpr double kLog2E = 1.4426950408889634;
    kernel_.resize(static_cast<std::size_t>(n_rows_) * stride_);
    const int n = padded(n_columns_);
    for (int i = 0; i < n_rows_; ++i) {
        if (i % 256 == 0) pulse.beat();
        smooth_kernels().soften(problem.cost_row(i), offset.data(), least_[i],
                                kLog2E / eps, n, row(i));
        std::fill(row(i) + n, row(i) + stride_, 0.0f);
    }
}

void SmoothPlan::balance(Pulse& pulse) {
    constexpr int kBlock = 1024;
    std::fill_n(column_factor_.begin(), n_columns_, 1.0f);
    for (int round = 0; round < kRounds; ++round) {
        std::fill(column_sum_.begin(), column_sum_.end(), kLeastMass);
        for (int i = 0; i < n_rows_; i += kBlock) {
            pulse.beat();
            smooth_kernels().balance(
                row(i), stride_, std::min(kBlock, n_rows_ - i),
                column_factor_.data(), supply_.data() + i,
                row_factor_.data() + i, column_sum_.data());
        }
        for (int j = 0; j < n_columns_; ++j)
            column_factor_[j] = std::clamp(demand_[j] / column_sum_[j],
                                           kLowFactor, kHighFactor);
    }
}

void SmoothPlan::absorb(double eps) {
    constexpr double kLog2 = 0.6931471805599453;
    for (int j = 0; j < n_columns_; ++j)
        offset[j] -= eps * kLog2 * rough_log2(column_factor_[j]);
}

void SmoothPlan::sharpen(Pulse& pulse) {
    for (int i = 0; i < n_rows_; ++i) {
        if (i % 256 == 0) pulse.beat();
        smooth_kernels().sharpen(row(i), column_factor_.data(), stride_);
    }
}

// Sorted by counting.
void SmoothPlan::find_shares() {
    unsorted_.clear();
    const float least =
        least_share(static_cast<std::int64_t>(n_rows_) * n_columns_);
    int begin[kBuckets + 1] = {};
    for (int i = 0; i < n_rows_; ++i) {
        const int n = smooth_kernels().find_shares(
            row(i), stride_, column_factor_.data(), demand_.data(),
            row_factor_[i], supply_[i], least, found_.data(),
            found_shares_.data());
        for (int k = 0; k < n; ++k) {
            const int bucket =
                static_cast<int>((1.0f - found_shares_[k]) * (kBuckets - 1));
            unsorted_.push_back({i, found_[k], bucket});
            ++begin[bucket + 1];
        }
    }
    for (int k = 0; k < kBuckets; ++k) begin[k + 1] += begin[k];
    shares.resize(unsorted_.size());
    for (const Share& share : unsorted_) shares[begin[share.bucket]++] = share;
}

void SmoothPlan::solve(const Problem& problem, Pulse& pulse) {
    set_margins(problem);
    set_offset(problem);
    kernels().row_minima(problem.cost(), problem.stride, offset.data(), n_rows_,
                         least_.data());
    shares.clear();
    double eps = kFirst * spread_of_costs(problem);
    if (eps <= 0.0) return;  // all costs are equal
    set_kernel(problem, eps, pulse);
    for (int n_left = n_divisions(n_columns_);; --n_left) {
        balance(pulse);
        absorb(eps);
        if (n_left == 0) break;
        sharpen(pulse);
        eps /= kDivisor;
    }
    find_shares();
}

}  // namespace groundmetric
