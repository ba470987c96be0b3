#include "cone/conjugate_gradients.h"

#include <algorithm>
#include <cmath>

namespace groundmetric {

void ConjugateGradients::load(const std::vector<Triangle>& triangles,
                              std::size_t n, const std::vector<double>& value,
                              const std::vector<double>& inverse) {
    local_.assign(value.size(), -1);
    edges_.clear();
    const auto number = [this](int edge) {
        if (local_[edge] < 0) {
            local_[edge] = static_cast<int>(edges_.size());
            edges_.push_back(edge);
        }
        return local_[edge];
    };
    sides_.resize(n);
    dual_.resize(n);
    scale_.resize(n);
    for (std::size_t k = 0; k < n; ++k) {
        const Triangle& t = triangles[k];
        sides_[k] = {number(t.sides.far), number(t.sides.near),
                     number(t.sides.other)};
        dual_[k] = t.dual;
        scale_[k] = t.scale;
    }
    x_.resize(edges_.size());
    inverse_.resize(edges_.size());
    for (std::size_t e = 0; e < edges_.size(); ++e) {
        x_[e] = value[edges_[e]];
        inverse_[e] = inverse[edges_[e]];
    }
    image_.assign(edges_.size(), 0.0);
    direction_.assign(n, 0.0);
    residual_.resize(n);
    double energy = 0.0;
    for (std::size_t k = 0; k < n; ++k) {
        residual_[k] = violation(x_, sides_[k]);
        energy += scale_[k] * residual_[k] * residual_[k];
    }
    energy_ = energy;
    first_ = residual_;
}

int ConjugateGradients::descend(int max_steps, double energy_goal,
                                double gap_goal, double rounding,
                                StopToken& stop) {
    double ratio = 0.0;
    for (int step = 0; step < max_steps; ++step) {
        stop.check();
        if (!(energy_ > 0.0)) return step;
        set_direction(ratio);
        const double curved = curvature();
        if (!(curved > 0.0)) return step;
        const double before = energy_;
        move(before / curved, rounding);
        if (energy_ <= energy_goal || gap_ <= gap_goal) return step + 1;
        ratio = energy_ / before;
    }
    return max_steps;
}

void ConjugateGradients::set_direction(double ratio) {
    for (std::size_t k = 0; k < sides_.size(); ++k) {
        const Sides& s = sides_[k];
        const double p = scale_[k] * residual_[k] + ratio * direction_[k];
        direction_[k] = p;
        image_[s.far] += p;
        image_[s.near] -= p;
        image_[s.other] -= p;
    }
}

// (N p)' W^-1 N p, in four interleaved sums to hide latency.
double ConjugateGradients::curvature() const {
    constexpr std::size_t kSums = 4;
    double sum[kSums] = {};
    const std::size_t n = edges_.size(), whole = n - n % kSums;
    for (std::size_t e = 0; e < whole; e += kSums)
        for (std::size_t l = 0; l < kSums; ++l)
            sum[l] += image_[e + l] * image_[e + l] * inverse_[e + l];
    for (std::size_t e = whole; e < n; ++e)
        sum[0] += image_[e] * image_[e] * inverse_[e];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

void ConjugateGradients::move(double length, double rounding) {
    for (std::size_t e = 0; e < edges_.size(); ++e) {
        x_[e] -= length * inverse_[e] * image_[e];
        image_[e] = 0.0;
    }
    double energy = 0.0, gap = 0.0;
    for (std::size_t k = 0; k < sides_.size(); ++k) {
        const double r = violation(x_, sides_[k]);
        const double dual = dual_[k] + length * direction_[k];
        residual_[k] = r;
        dual_[k] = dual;
        energy += scale_[k] * r * r;
        gap += std::abs(dual) * std::max(0.0, std::abs(r) - rounding);
    }
    energy_ = energy;
    gap_ = gap;
}

void ConjugateGradients::store(std::vector<double>& value) const {
    for (std::size_t e = 0; e < edges_.size(); ++e) value[edges_[e]] = x_[e];
}

}  // namespace groundmetric
