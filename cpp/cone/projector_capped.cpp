// What is different if entries have a cap: the center, see projector.h.
#include <algorithm>
#include <limits>

#include "cone/projector.h"

namespace groundmetric {

// Infinite weights: no sweep moves these edges. No entry of the projection is
// larger than the largest of the input, which is below 2: a cap above 4 is as
// good as one of 4.
void MetricProjector::load_center() {
    cap_ = std::min(options_->cap / unit_, 4.0);
    set_center(x_, 0.5 * cap_);
    set_center(weights_, std::numeric_limits<double>::infinity());
}

void MetricProjector::set_center(std::vector<double>& matrix,
                                 double distance) const {
    const int center = n_bins_;
    for (int i = 0; i < n_bins_; ++i)
        matrix[row(i) + center] = matrix[row(center) + i] = distance;
    matrix[row(center) + center] = 0.0;
}

// The closure, with all entries that the cap holds down equal to it, so that
// distances can be computed through a hub. The iterate is only near the cap
// there, and a tight triangle may leave such an entry a little below it. Then
// all entries grow by as much, up to the cap: min(c M, T) is a metric, too.
void MetricProjector::close_at_cap() {
    std::vector<std::size_t> held;
    for (const Multiplier& m : set_.multipliers())
        if (m.k == n_bins_ && m.dual > 0.0)
            held.push_back(row(std::min(m.i, m.j)) + std::max(m.i, m.j));
    for (const std::size_t edge : held) metric_[edge] = cap_;
    close();
    double lowest = cap_;
    for (const std::size_t edge : held)
        lowest = std::min(lowest, metric_[edge]);
    constexpr double kNear = 1e-3;  // else the multipliers are far from final
    if (lowest == cap_ || lowest < (1.0 - kNear) * cap_) return;
    constexpr double kRounding = 16.0 * std::numeric_limits<double>::epsilon();
    const double factor = cap_ / lowest * (1.0 + kRounding);
    for (int i = 0; i < n_bins_; ++i)
        for (int j = i + 1; j < n_bins_; ++j)
            metric_[row(i) + j] = std::min(factor * metric_[row(i) + j], cap_);
    close();
}

}  // namespace groundmetric
