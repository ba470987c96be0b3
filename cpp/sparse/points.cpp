#include "sparse/points.h"

#include <algorithm>
#include <cmath>

#include "base/kernels.h"
#include "base/point_kernels.h"

namespace groundmetric {

namespace {

// Combines all values, eight at a time: the compiler then uses vectors.
template <class Function>
double combined(const double* values, std::size_t n, Function function) {
    constexpr std::size_t kAtATime = 8;
    double found[kAtATime] = {};
    std::size_t k = 0;
    for (; k + kAtATime <= n; k += kAtATime)
        for (std::size_t g = 0; g < kAtATime; ++g)
            found[g] = function(found[g], values[k + g]);
    for (; k < n; ++k) found[0] = function(found[0], values[k]);
    double all = 0.0;
    for (const double x : found) all = function(all, x);
    return all;
}

}  // namespace

bool are_finite(const double* values, std::size_t n) {
    // Only for these is 0 times x a zero.
    return combined(values, n,
                    [](double sum, double x) { return sum + 0.0 * x; }) == 0.0;
}

Points::Points(const double* coordinates, int d, int s)
    : size_(d), n_coordinates_(s) {
    const std::size_t n = static_cast<std::size_t>(d) * s;
    const double largest = combined(coordinates, n, [](double most, double x) {
        return std::max(most, std::abs(x));
    });
    int exponent = 0;
    std::frexp(largest, &exponent);  // largest < 2^exponent
    // 2^exponent may be out of range; the smallest scale leaves room for it.
    exponent = std::clamp(exponent, -1021, 1023);
    scale_ = std::ldexp(1.0, exponent);
    const double factor = std::ldexp(1.0, -exponent);
    scaled_ = std::make_unique_for_overwrite<double[]>(n);
    for (std::size_t k = 0; k < n; ++k) scaled_[k] = factor * coordinates[k];
}

void PointCosts::start(const Support& fixed) {
    forget();
    const int s = points_->n_coordinates();
    stride_ = padded(fixed.size);
    packed_.assign(static_cast<std::size_t>(s) * stride_, 0.0);
    for (int p = 0; p < fixed.size; ++p) {
        const double* point = points_->point(fixed.bins[p]);
        for (int k = 0; k < s; ++k)
            packed_[static_cast<std::size_t>(k) * stride_ + p] = point[k];
    }
}

void PointCosts::forget() {
    for (const std::int32_t bin : slots_) slot_[bin] = kNone;
    slots_.clear();
    kept_.clear();
}

// Finds the distances to these bins that are not known yet.
void PointCosts::compute(const std::int32_t* bins, std::int64_t n) {
    const std::size_t n_new = static_cast<std::size_t>(std::count_if(
        bins, bins + n, [&](int bin) { return slot_[bin] == kNone; }));
    if (n_new == 0) return;
    if ((slots_.size() + n_new) * n_bytes() > kMostBytes) forget();
    const std::size_t first = slots_.size();
    for (std::int64_t k = 0; k < n; ++k) {
        std::int32_t& slot = slot_[bins[k]];
        if (slot != kNone) continue;
        slot = static_cast<std::int32_t>(slots_.size());
        slots_.push_back(bins[k]);
    }
    kept_.resize(slots_.size() * stride_);
    from_.clear();
    to_.clear();
    for (std::size_t k = first; k < slots_.size(); ++k) {
        from_.push_back(points_->point(slots_[k]));
        to_.push_back(kept_.data() + k * stride_);
    }
    point_kernels().distances(from_.data(), static_cast<int>(from_.size()),
                              packed_.data(), stride_, points_->n_coordinates(),
                              to_.data());
}

std::int64_t PointCosts::expect(const SparseMasses& others, std::int64_t begin,
                                std::int64_t end) {
    const auto most = static_cast<std::int64_t>(kAheadBytes / n_bytes());
    std::int64_t n = others.row(begin).size;
    std::int64_t last = begin + 1;
    for (; last < end && n + others.row(last).size <= most; ++last)
        n += others.row(last).size;
    compute(others.row(begin).bins, n);  // rows follow each other
    return last;
}

void PointCosts::set_costs(Problem& problem, const Support& other,
                           bool is_swapped) {
    compute(other.bins, other.size);
    if (is_swapped)
        fill_rows(problem, other);
    else
        fill_columns(problem, other);
}

void PointCosts::fill_rows(Problem& problem, const Support& other) const {
    double* to = problem.make_costs();
    for (const int p : problem.rows) {
        const double* from = distances_to(other.bins[p]);
        for (int j = 0; j < problem.n_columns(); ++j)
            to[j] = from[problem.columns[j]];
        to += problem.stride;
    }
}

// A vector's worth of columns at a time, so that stores fill cache lines.
void PointCosts::fill_columns(Problem& problem, const Support& other) const {
    double* const costs = problem.make_costs();
    const int n = problem.n_columns();
    const double* from[kLanes];
    for (int j = 0; j < n; j += kLanes) {
        const int width = std::min(kLanes, n - j);
        for (int g = 0; g < width; ++g)
            from[g] = distances_to(other.bins[problem.columns[j + g]]);
        double* to = costs + j;
        for (const int p : problem.rows) {
            for (int g = 0; g < width; ++g) to[g] = from[g][p];
            to += problem.stride;
        }
    }
}

}  // namespace groundmetric
