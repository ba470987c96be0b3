#include "cone/working_set.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace groundmetric {

namespace {

constexpr int kMaxCycles = 8;   // in one call of improve()
constexpr int kHotSweeps = 4;   // over the active triangles, in a cycle
constexpr int kIdleRounds = 2;  // until a slack triangle is dropped

// Conjugate gradients are useless above this reduction, because the set and its
// face are still far from final, or if a sweep sets more than this share of the
// active multipliers to zero.
constexpr double kRough = 0.05;
constexpr double kRestless = 0.003;

}  // namespace

WorkingSet::WorkingSet(int d, int stride)
    : stride_(stride), slot_(static_cast<std::size_t>(d) * stride, -1) {}

void WorkingSet::clear() {
    for (const Place& place : place_) slot_[place.upper] = -1;
    place_.clear();
    start_.clear();
    value_.clear();
    inverse_.clear();
    triangles_.clear();
    newest_.clear();
    next_.clear();
    is_linked_ = true;
    has_caps_ = false;
}

bool WorkingSet::load(const double* matrix, const double* weights,
                      const std::vector<Multiplier>& multipliers,
                      double dual_factor) {
    clear();
    matrix_ = matrix;
    weights_ = weights;
    for (const Multiplier& m : multipliers)
        if (!add(m.i, m.j, m.k, m.dual * dual_factor)) return false;
    refresh();
    max_steps_ = kMinSteps;
    n_sweeps_ = 0;
    n_visits_ = 0;
    return true;
}

void WorkingSet::replace(const std::vector<Multiplier>& multipliers) {
    triangles_.clear();
    link();
    for (const Multiplier& m : multipliers) add(m.i, m.j, m.k, m.dual);
}

int WorkingSet::edge(int i, int j) {
    if (i > j) std::swap(i, j);
    const Place place{i * stride_ + j, j * stride_ + i};
    int& slot = slot_[place.upper];
    if (slot < 0) {
        place_.push_back(place);
        start_.push_back(matrix_[place.upper]);
        value_.push_back(matrix_[place.upper]);
        inverse_.push_back(1.0 / weights_[place.upper]);
        has_caps_ |= inverse_.back() == 0.0;
        newest_.push_back(-1);
        slot = static_cast<int>(place_.size()) - 1;
    }
    return slot;
}

double WorkingSet::scale(const Sides& s) const {
    return 1.0 / (inverse_[s.far] + inverse_[s.near] + inverse_[s.other]);
}

bool WorkingSet::add(int i, int j, int k, double dual) {
    assert(is_linked_);
    const Sides sides{edge(i, j), edge(i, k), edge(j, k)};
    for (int t = newest_[sides.far]; t >= 0; t = next_[t]) {
        const Sides& s = triangles_[t].sides;
        if (s.near == sides.near || s.other == sides.near) return false;
    }
    next_.push_back(newest_[sides.far]);
    newest_[sides.far] = static_cast<int>(triangles_.size());
    triangles_.push_back({sides, 0, scale(sides), dual});
    return true;
}

std::vector<Multiplier> WorkingSet::multipliers() const {
    std::vector<Multiplier> out;
    out.reserve(triangles_.size());
    for (const Triangle& t : triangles_) {
        const int far = place_[t.sides.far].upper;
        const int near = place_[t.sides.near].upper;
        int i = far / stride_, j = far % stride_;
        const int a = near / stride_, b = near % stride_;
        if (j == a || j == b) std::swap(i, j);
        out.push_back({i, j, a == i ? b : a, t.dual});
    }
    return out;
}

void WorkingSet::link() {
    std::fill(newest_.begin(), newest_.end(), -1);
    next_.resize(triangles_.size());
    for (std::size_t t = 0; t < triangles_.size(); ++t) {
        int& newest = newest_[triangles_[t].sides.far];
        next_[t] = newest;
        newest = static_cast<int>(t);
    }
    is_linked_ = true;
}

void WorkingSet::refresh() {
    value_ = start_;
    for (const Triangle& t : triangles_)
        if (t.dual > 0.0) shift(t.sides, t.dual);
}

void WorkingSet::improve(double reduction, double gap_goal, double rounding,
                         StopToken& stop) {
    double energy_goal = 0.0;
    for (int cycle = 0; cycle < kMaxCycles; ++cycle) {
        const Residual all = sweep(triangles_.size(), rounding);
        if (cycle == 0)
            energy_goal = reduction * reduction * all.energy;
        else if (all.energy <= energy_goal || all.gap <= gap_goal)
            return;
        const std::size_t n_hot = gather_active();
        Residual hot;
        for (int k = 0; k < kHotSweeps; ++k) {
            stop.check();
            hot = sweep(n_hot, rounding);
        }
        const bool restless = static_cast<double>(hot.released) >
                              kRestless * static_cast<double>(n_hot);
        if (reduction <= kRough && !restless)
            accelerate(gather_active(), 0.25 * energy_goal, gap_goal, rounding,
                       stop);
    }
}

void WorkingSet::count(int n_sweeps, std::size_t n) {
    n_sweeps_ += n_sweeps;
    n_visits_ += n_sweeps * static_cast<std::int64_t>(n);
}

// Hildreth's method, on the first n triangles: one multiplier after the other
// takes its best value, the others fixed.
WorkingSet::Residual WorkingSet::sweep(std::size_t n, double rounding) {
    count(1, n);
    Residual residual;
    for (std::size_t k = 0; k < n; ++k) {
        Triangle& t = triangles_[k];
        const double excess = violation(value_, t.sides);
        const double step = std::max(excess * t.scale, -t.dual);
        if (step == 0.0) continue;
        residual.energy += step * excess;
        residual.gap += t.dual * std::max(0.0, std::abs(excess) - rounding);
        t.dual += step;
        residual.released += t.dual == 0.0;
        shift(t.sides, step);
    }
    return residual;
}

std::size_t WorkingSet::gather_active() {
    const auto active = [](const Triangle& t) { return t.dual > 0.0; };
    is_linked_ = false;
    return std::partition(triangles_.begin(), triangles_.end(), active) -
           triangles_.begin();
}

// Conjugate gradients with the first n multipliers free. Those that come out
// negative are set to zero if the whole step still improves the dual; if not,
// the step ends where the first of them vanishes.
void WorkingSet::accelerate(std::size_t n, double energy_goal, double gap_goal,
                            double rounding, StopToken& stop) {
    if (has_caps_) {
        accelerate_capped(n, energy_goal, gap_goal, rounding, stop);
        return;
    }
    conjugate_gradients_.load(triangles_, n, value_, inverse_);
    count(conjugate_gradients_.descend(max_steps_, energy_goal, gap_goal,
                                       rounding, stop),
          n);
    conjugate_gradients_.store(value_);
    std::size_t n_negative = 0;
    double share = 1.0;
    for (std::size_t k = 0; k < n; ++k) {
        if (conjugate_gradients_.dual(k) >= 0.0) continue;
        const Triangle& t = triangles_[k];
        ++n_negative;
        share =
            std::min(share, t.dual / (t.dual - conjugate_gradients_.dual(k)));
        shift(t.sides, -conjugate_gradients_.dual(k));
    }
    const bool whole = n_negative == 0 || clip_gain(n) >= 0.0;
    for (std::size_t k = 0; k < n; ++k) {
        double& dual = triangles_[k].dual;
        const double step = conjugate_gradients_.dual(k) - dual;
        dual = std::max(
            0.0, whole ? conjugate_gradients_.dual(k) : dual + share * step);
    }
    if (!whole) refresh();
    if (n_negative == 0)
        max_steps_ = std::min(kMaxSteps, 2 * max_steps_);
    else if (n_negative > n / 50)
        max_steps_ = kMinSteps;
}

// Twice what the clipped step gains: the dual is quadratic, so its change is
// the step times the mean of the gradients at both ends.
double WorkingSet::clip_gain(std::size_t n) {
    double gain = 0.0;
    for (std::size_t k = 0; k < n; ++k) {
        const Triangle& t = triangles_[k];
        gain += (std::max(0.0, conjugate_gradients_.dual(k)) - t.dual) *
                (conjugate_gradients_.first_violation(k) +
                 violation(value_, t.sides));
    }
    return gain;
}

void WorkingSet::drop_idle() {
    for (Triangle& t : triangles_) t.idle = t.dual > 0.0 ? 0 : t.idle + 1;
    std::erase_if(triangles_,
                  [](const Triangle& t) { return t.idle > kIdleRounds; });
    link();
}

void WorkingSet::write(double* matrix) {
    refresh();
    for (std::size_t e = 0; e < place_.size(); ++e) {
        matrix[place_[e].upper] = value_[e];
        matrix[place_[e].lower] = value_[e];
    }
}

double WorkingSet::complementarity(const double* y, double rounding) const {
    const auto at = [&](int edge) { return y[place_[edge].upper]; };
    double sum = 0.0;
    for (const Triangle& t : triangles_)
        if (t.dual > 0.0) {
            const double slack =
                at(t.sides.near) + at(t.sides.other) - at(t.sides.far);
            sum += t.dual * std::max(0.0, slack - rounding);
        }
    return sum;
}

}  // namespace groundmetric
