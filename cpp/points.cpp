#include "points.h"

#include <algorithm>
#include <cmath>

#include "kernels.h"
#include "point_kernels.h"

namespace groundmetric {

Points::Points(const double* coordinates, int d, int s)
    : size_(d),
      n_coordinates_(s),
      scaled_(coordinates, coordinates + static_cast<std::size_t>(d) * s) {
    double largest = 0.0;
    for (const double x : scaled_) largest = std::max(largest, std::abs(x));
    int exponent = 0;
    std::frexp(largest, &exponent);  // largest < 2^exponent
    // 2^exponent may be out of range; the smallest scale leaves room for it.
    exponent = std::clamp(exponent, -1021, 1023);
    scale_ = std::ldexp(1.0, exponent);
    const double factor = std::ldexp(1.0, -exponent);
    for (double& x : scaled_) x *= factor;
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

// Finds the distances that are not known yet.
void PointCosts::compute(const Support& other,
                         const std::vector<int>& positions) {
    const std::size_t n_bytes =
        (slots_.size() + positions.size()) * stride_ * sizeof(double);
    if (n_bytes > kMostBytes) forget();
    const std::size_t first = slots_.size();
    for (const int q : positions) {
        std::int32_t& slot = slot_[other.bins[q]];
        if (slot != kNone) continue;
        slot = static_cast<std::int32_t>(slots_.size());
        slots_.push_back(other.bins[q]);
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

void PointCosts::set_costs(Problem& problem, const Support& other,
                           bool is_swapped) {
    compute(other, is_swapped ? problem.rows : problem.columns);
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
