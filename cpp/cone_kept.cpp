// What a projector keeps between projections.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "cone.h"

namespace groundmetric {

void MetricProjector::forget(const Poll& poll) {
    const Turn turn(turnstile_, poll);
    kept_ = {};
}

Multipliers MetricProjector::multipliers(const Poll& poll) const {
    const Turn turn(turnstile_, poll);
    return kept_;
}

std::int64_t MetricProjector::n_triangles(const Poll& poll) const {
    const Turn turn(turnstile_, poll);
    return static_cast<std::int64_t>(kept_.triangles.size());
}

void MetricProjector::set_multipliers(Multipliers multipliers,
                                      const Poll& poll) {
    const Turn turn(turnstile_, poll);
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
