// What a projector keeps between projections.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "cone/projector.h"

namespace groundmetric {

// x <- input / unit, so that the largest entry is in [1, 2). Multipliers of an
// input of a very different size are useless.
void MetricProjector::load(const double* input, const double* weights) {
    double largest = 0.0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(n_bins_) * n_bins_;
         ++k)
        largest = std::max(largest, std::abs(input[k]));
    int exponent = 0;
    std::frexp(largest, &exponent);
    unit_ = std::ldexp(1.0, exponent - 1);
    rounding_ = 128.0 * std::numeric_limits<double>::epsilon();
    const double ratio = kept_.unit / unit_;
    constexpr double kFar = 0x1p60;
    const bool far = !(largest > 0.0 && ratio < kFar && ratio > 1.0 / kFar);
    for (int i = 0; i < n_bins_; ++i)
        for (int j = 0; j < n_bins_; ++j) {
            const std::size_t k = static_cast<std::size_t>(i) * n_bins_ + j;
            x_[row(i) + j] = i == j ? 0.0 : input[k] / unit_;
            weights_[row(i) + j] = weights == nullptr ? 1.0 : weights[k];
        }
    if (has_center()) load_center();
    const std::vector<Multiplier> none;
    set_.load(x_.data(), weights_.data(), far ? none : kept_.triangles, ratio);
}

void MetricProjector::forget(const Poll& poll) {
    const CallLock lock(call_mutex_, poll);
    kept_ = {};
}

Multipliers MetricProjector::multipliers(const Poll& poll) const {
    const CallLock lock(call_mutex_, poll);
    return kept_;
}

std::int64_t MetricProjector::n_triangles(const Poll& poll) const {
    const CallLock lock(call_mutex_, poll);
    return static_cast<std::int64_t>(kept_.triangles.size());
}

void MetricProjector::set_multipliers(Multipliers multipliers,
                                      const Poll& poll) {
    const CallLock lock(call_mutex_, poll);
    const auto can_be = [this](const Multiplier& m) {
        const auto [low, high] = std::minmax({m.i, m.j, m.k});
        return m.i != m.j && m.j != m.k && m.k != m.i && low >= 0 &&
               high < d_ && std::isfinite(m.dual) && m.dual >= 0.0;
    };
    const std::vector<Multiplier>& triangles = multipliers.triangles;
    if (!std::all_of(triangles.begin(), triangles.end(), can_be) ||
        !(multipliers.unit > 0.0) || !std::isfinite(multipliers.unit) ||
        !set_.load(x_.data(), weights_.data(), triangles, 1.0))
        throw std::invalid_argument("These are not triangles of a projector.");
    kept_ = std::move(multipliers);
}

}  // namespace groundmetric
