#include "cone/dual_method.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/kernels.h"

namespace groundmetric {

namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr double kRounding = 64.0 * kEps;  // of a triangle, times its sides
// A unit normal whose part orthogonal to the active ones is shorter than this
// depends on them.
constexpr double kDependent = 1e-12;
constexpr int kMostSteps = 20;  // for each edge; two is usual

}  // namespace

DualMethod::DualMethod(const double* input, const double* weights, int d,
                       int stride)
    : d_(d), n_(d * (d - 1) / 2), steps_left_(kMostSteps * n_) {
    const auto n = static_cast<std::size_t>(n_);
    for (int i = 0; i < d; ++i)
        for (int j = i + 1; j < d; ++j) {
            const std::size_t k = static_cast<std::size_t>(i) * stride + j;
            x_.push_back(input[k]);
            root_.push_back(1.0 / std::sqrt(weights[k]));
        }
    is_active_.assign(n * d, 0);
    basis_.assign(n * n, 0.0);
    for (int k = 0; k < n_; ++k) column(k)[k] = 1.0;
    factor_.resize(n * (n + 1) / 2);
    rotated_.resize(n);
    direction_.resize(n);
    rates_.resize(n);
}

inline int DualMethod::edge(int i, int j) const {
    if (i > j) std::swap(i, j);
    return i * (2 * d_ - i - 1) / 2 + j - i - 1;
}

double DualMethod::excess(const Active& t) const {
    return violation(x_, t.sides) / t.length;
}

bool DualMethod::solve(StopToken& stop) {
    Active worst;
    while (find_violated(worst))
        if (!activate(worst, stop)) return false;
    polish();
    return true;
}

// x <- the point where active triangles are tight that is nearest to x, which
// the rounding of many steps has moved away from it: x + W^-1/2 J1 R^-T excess.
void DualMethod::polish() {
    for (int k = 0; k < static_cast<int>(active_.size()); ++k) {
        const double* const r = factor(k);
        double y = excess(active_[k]);
        for (int l = 0; l < k; ++l) y -= r[l] * rates_[l];
        rates_[k] = y / r[k];
    }
    for (int k = 0; k < static_cast<int>(active_.size()); ++k)
        for (int e = 0; e < n_; ++e)
            x_[e] += root_[e] * rates_[k] * column(k)[e];
}

// The triangle whose activation alone would raise the dual most.
bool DualMethod::find_violated(Active& worst) const {
    double most = 0.0;
    for (int i = 0; i < d_; ++i)
        for (int j = i + 1; j < d_; ++j) {
            const int far = edge(i, j);
            if (root_[far] == 0.0) continue;  // of the center: M_ik >= 0
            for (int k = 0; k < d_; ++k) {
                if (k == i || k == j) continue;
                const Sides s{far, edge(i, k), edge(j, k)};
                const double excess = violation(x_, s);
                if (!(excess > 0.0)) continue;
                const double size = std::abs(x_[s.far]) + std::abs(x_[s.near]) +
                                    std::abs(x_[s.other]);
                if (excess <= kRounding * size) continue;
                if (is_active_[static_cast<std::size_t>(far) * d_ + k])
                    continue;
                const double length =
                    std::sqrt(root_[s.far] * root_[s.far] +
                              root_[s.near] * root_[s.near] +
                              root_[s.other] * root_[s.other]);
                if (excess > most * length) {
                    most = excess / length;
                    worst = {i, j, k, s, length, 0.0};
                }
            }
        }
    return most > 0.0;
}

bool DualMethod::activate(Active t, StopToken& stop) {
    for (;;) {
        stop.check();
        if (--steps_left_ < 0) return false;
        split_normal(t);
        const bool is_dependent = square_ <= kDependent * kDependent;
        const double full = is_dependent ? kHuge : excess(t) / square_;
        double longest = kHuge;
        const int vanishing = first_to_vanish(longest);
        const double step = std::min(full, longest);
        if (!(step < kHuge)) return false;
        move(step, is_dependent);
        t.dual += step;
        if (full <= longest) break;
        remove(vanishing);
    }
    append(t);
    return true;
}

// J' n, where n has three entries; its second part back in the coordinates of
// edges; and R^-1 times its first.
void DualMethod::split_normal(const Active& t) {
    const Sides& s = t.sides;
    const double far = -root_[s.far] / t.length;
    const double near = root_[s.near] / t.length;
    const double other = root_[s.other] / t.length;
    const int q = static_cast<int>(active_.size());
    std::fill(direction_.begin(), direction_.end(), 0.0);
    square_ = 0.0;
    for (int k = 0; k < n_; ++k) {
        const double* const j = column(k);
        const double along =
            far * j[s.far] + near * j[s.near] + other * j[s.other];
        rotated_[k] = along;
        if (k < q || along == 0.0) continue;
        square_ += along * along;
        for (int e = 0; e < n_; ++e) direction_[e] += along * j[e];
    }
    std::copy_n(rotated_.begin(), q, rates_.begin());
    for (int k = q - 1; k >= 0; --k) {
        const double* const r = factor(k);
        rates_[k] /= r[k];
        for (int l = 0; l < k; ++l) rates_[l] -= rates_[k] * r[l];
    }
}

int DualMethod::first_to_vanish(double& longest) const {
    int first = kNone;
    for (std::size_t k = 0; k < active_.size(); ++k)
        if (rates_[k] > kEps && active_[k].dual < longest * rates_[k]) {
            longest = active_[k].dual / rates_[k];
            first = static_cast<int>(k);
        }
    return first;
}

void DualMethod::move(double step, bool is_dependent) {
    for (std::size_t k = 0; k < active_.size(); ++k)
        active_[k].dual = std::max(0.0, active_[k].dual - step * rates_[k]);
    if (is_dependent) return;
    for (int e = 0; e < n_; ++e) x_[e] += step * root_[e] * direction_[e];
}

// A reflection of the columns that follow the active ones makes the new normal
// a combination of those and the next column alone.
void DualMethod::append(const Active& t) {
    const int q = static_cast<int>(active_.size());
    const double image = -std::copysign(std::sqrt(square_), rotated_[q]);
    std::copy_n(rotated_.begin(), q, factor(q));
    factor(q)[q] = image;
    // v = J2' n - image e_1, and J2 v = direction - image J2 e_1.
    for (int e = 0; e < n_; ++e) direction_[e] -= image * column(q)[e];
    const double half = image * (image - rotated_[q]);  // v'v / 2
    rotated_[q] -= image;
    for (int k = q; k < n_; ++k) {
        const double share = rotated_[k] / half;
        if (share == 0.0) continue;
        double* const j = column(k);
        for (int e = 0; e < n_; ++e) j[e] -= share * direction_[e];
    }
    is_active_[static_cast<std::size_t>(t.sides.far) * d_ + t.k] = 1;
    active_.push_back(t);
}

// Without column l, those behind it have one entry below the diagonal each;
// rotations of two rows of R, and of the same columns of J, remove them.
void DualMethod::remove(int l) {
    const Active& t = active_[l];
    is_active_[static_cast<std::size_t>(t.sides.far) * d_ + t.k] = 0;
    active_.erase(active_.begin() + l);
    struct Rotation {
        double cosine, sine;
    };
    std::vector<Rotation> rotations;
    for (int k = l; k < static_cast<int>(active_.size()); ++k) {
        double* const r = factor(k + 1);
        for (int m = l; m < k; ++m) {
            const auto [cosine, sine] = rotations[m - l];
            const double upper = r[m];
            r[m] = cosine * upper + sine * r[m + 1];
            r[m + 1] = cosine * r[m + 1] - sine * upper;
        }
        const double length = std::hypot(r[k], r[k + 1]);
        rotations.push_back({r[k] / length, r[k + 1] / length});
        r[k] = length;
        std::copy_n(r, k + 1, factor(k));
        rotate_columns(k, rotations.back().cosine, rotations.back().sine);
    }
}

void DualMethod::rotate_columns(int k, double cosine, double sine) {
    double *const left = column(k), *const right = column(k + 1);
    for (int e = 0; e < n_; ++e) {
        const double was = left[e];
        left[e] = cosine * was + sine * right[e];
        right[e] = cosine * right[e] - sine * was;
    }
}

void DualMethod::write(double* matrix, int stride) const {
    for (int i = 0; i < d_; ++i)
        for (int j = i + 1; j < d_; ++j)
            matrix[static_cast<std::size_t>(i) * stride + j] =
                std::max(0.0, x_[edge(i, j)]);
}

std::vector<Multiplier> DualMethod::multipliers() const {
    std::vector<Multiplier> out;
    for (const Active& t : active_)
        out.push_back({t.i, t.j, t.k, t.dual / t.length});
    return out;
}

}  // namespace groundmetric
