// Conjugate gradients where edges have caps.
//
// Given the other multipliers, those of the caps follow from x_e = T: these
// edges are fixed, as if their weights were infinite, and conjugate gradients
// are for the triangles alone. Faces change more often than without caps, so
// the step is halved until it improves the dual, with multipliers below zero
// set to zero.
#include <algorithm>

#include "cone/working_set.h"

namespace groundmetric {

namespace {

constexpr int kMostHalvings = 8;

}  // namespace

bool WorkingSet::is_cap(const Triangle& t) const {
    return inverse_[t.sides.near] + inverse_[t.sides.other] == 0.0;
}

// Of the first n triangles, those that are no caps come first, then the caps
// whose edges are at T. Returns how many come first; n is without the others.
std::size_t WorkingSet::pin_caps(std::size_t& n) {
    is_linked_ = false;
    const auto first = triangles_.begin();
    const auto last = first + static_cast<std::ptrdiff_t>(n);
    const auto caps = std::partition(
        first, last, [this](const Triangle& t) { return !is_cap(t); });
    pinned_inverse_ = inverse_;
    const auto released = std::partition(caps, last, [this](Triangle& t) {
        const double step = violation(value_, t.sides) * t.scale;
        const double most = std::max(step, -t.dual);
        t.dual += most;
        shift(t.sides, most);
        if (!(t.dual > 0.0)) return false;
        pinned_inverse_[t.sides.far] = 0.0;
        return true;
    });
    n = static_cast<std::size_t>(released - first);
    return static_cast<std::size_t>(caps - first);
}

void WorkingSet::accelerate_capped(std::size_t n, double energy_goal,
                                   double gap_goal, double rounding,
                                   StopToken& stop) {
    const std::size_t n_free = pin_caps(n);
    base_ = value_;
    conjugate_gradients_.load(triangles_, n_free, value_, pinned_inverse_);
    count(conjugate_gradients_.descend(max_steps_, energy_goal, gap_goal,
                                       rounding, stop),
          n_free);
    find_steps(n_free, n);
    double share = 1.0;
    int halvings = 0;
    while (try_steps(n_free, n, share) < 0.0 && halvings < kMostHalvings) {
        share *= 0.5;
        ++halvings;
    }
    if (halvings == kMostHalvings) {
        value_ = base_;
        return;
    }
    std::size_t n_negative = 0;
    for (std::size_t k = 0; k < n; ++k) {
        double& dual = triangles_[k].dual;
        const double next = dual + share * steps_[k];
        n_negative += next < 0.0;
        dual = std::max(0.0, next);
    }
    if (halvings <= 1)
        max_steps_ = std::min(kMaxSteps, 2 * max_steps_);
    else if (halvings > 3)
        max_steps_ = kMinSteps;
}

// The steps of all multipliers: caps take what triangles no longer do.
void WorkingSet::find_steps(std::size_t n_free, std::size_t n) {
    std::vector<double>& taken = pinned_inverse_;  // by edge; no longer needed
    std::fill(taken.begin(), taken.end(), 0.0);
    steps_.resize(n);
    for (std::size_t k = 0; k < n_free; ++k) {
        const Sides& s = triangles_[k].sides;
        steps_[k] = conjugate_gradients_.dual(k) - triangles_[k].dual;
        taken[s.far] -= steps_[k];
        taken[s.near] += steps_[k];
        taken[s.other] += steps_[k];
    }
    for (std::size_t k = n_free; k < n; ++k)
        steps_[k] = taken[triangles_[k].sides.far];
}

// Sets x to what it is after this share of the steps, with multipliers below
// zero set to zero, and returns twice the gain, as clip_gain().
double WorkingSet::try_steps(std::size_t n_free, std::size_t n, double share) {
    value_ = base_;
    for (std::size_t k = 0; k < n; ++k) {
        const Triangle& t = triangles_[k];
        shift(t.sides, std::max(share * steps_[k], -t.dual));
    }
    double gain = 0.0;
    for (std::size_t k = 0; k < n; ++k) {
        const Triangle& t = triangles_[k];
        const double before =
            k < n_free ? conjugate_gradients_.first_violation(k) : 0.0;
        gain += std::max(share * steps_[k], -t.dual) *
                (before + violation(value_, t.sides));
    }
    return gain;
}

}  // namespace groundmetric
