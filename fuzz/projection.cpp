// Two projections by one projector, the second from what the first has left:
// both are metrics exactly, and as close to the input as they say.
#include <limits>

#include "checks.h"
#include "cone/projector.h"
#include "input.h"

namespace groundmetric::fuzz {
namespace {

constexpr double kTol = 1e-6;

struct Matrix {
    int d;
    std::vector<double> entries;
    double& operator()(int i, int j) { return entries[i * d + j]; }
    double operator()(int i, int j) const { return entries[i * d + j]; }
};

Matrix symmetric(Input& input, int d, bool is_weight) {
    Matrix out{d, input.numbers(static_cast<std::size_t>(d) * d, !is_weight)};
    for (int i = 0; i < d; ++i)
        for (int j = 0; j <= i; ++j) {
            double& x = out(j, i);
            if (is_weight) x = std::clamp(x, 1e-10, 1.0);
            if (!is_weight && i == j) x = 0.0;
            out(i, j) = x;
        }
    return out;
}

void check_metric(const Matrix& m) {
    for (int i = 0; i < m.d; ++i) {
        require(m(i, i) == 0.0, "the diagonal", m(i, i));
        for (int j = 0; j < m.d; ++j) {
            require(m(i, j) >= 0.0, "an entry", m(i, j));
            require(m(i, j) == m(j, i), "symmetry", m(i, j), m(j, i));
            for (int k = 0; k < m.d; ++k)
                require(m(i, j) <= m(i, k) + m(k, j), "a triangle", m(i, j),
                        m(i, k) + m(k, j));
        }
    }
}

// The norm over i < j, with weights.
double norm(const Matrix& x, const Matrix& weights, double unit) {
    double square = 0.0;
    for (int i = 0; i < x.d; ++i)
        for (int j = i + 1; j < x.d; ++j)
            square += weights(i, j) * (x(i, j) / unit) * (x(i, j) / unit);
    return std::sqrt(square) * unit;
}

// A bound on the distance to the true projection, from the multipliers alone:
// tests/certificates.py has its derivation.
double distance_bound(const Multipliers& kept, const Matrix& input,
                      const Matrix& metric, const Matrix& weights,
                      double largest) {
    Matrix x = input;
    const auto shift = [&](int i, int j, double step) {
        x(i, j) += step / weights(i, j);
        x(j, i) = x(i, j);
    };
    double gap = 0.0;
    const double rounding =
        256.0 * std::numeric_limits<double>::epsilon() * largest;
    for (const Multiplier& t : kept.triangles) {
        const double dual = t.dual * kept.unit;
        require(dual >= 0.0, "a multiplier", dual);
        shift(t.i, t.j, -dual);
        shift(t.i, t.k, dual);
        shift(t.k, t.j, dual);
        const double slack =
            metric(t.i, t.k) + metric(t.k, t.j) - metric(t.i, t.j);
        gap += dual / largest * std::max(0.0, slack - rounding) / largest;
    }
    for (std::size_t k = 0; k < x.entries.size(); ++k)
        x.entries[k] -= metric.entries[k];
    const double off = norm(x, weights, largest) / largest;
    return std::sqrt(off * off + 2.0 * gap) * largest;
}

// Nearest metrics without entries above a cap, one after the other.
void run_capped(Input& input, int d) {
    MetricProjector projector(d, true);
    for (int call = 0; call < 2; ++call) {
        const Matrix a = symmetric(input, d, false);
        double largest = 0.0;
        for (const double x : a.entries)
            largest = std::max(largest, std::abs(x));
        if (largest < 1e-290 || largest > 1e290) continue;
        const double cap = largest * input.integer(1, 20) / 16.0;
        Matrix metric = a;
        const ProjectionOptions options{kTol, cap, 100, 1, kGoOn, {}};
        projector.project(a.entries.data(), nullptr, options,
                          metric.entries.data());
        check_metric(metric);
        for (const double x : metric.entries)
            require(x <= cap, "an entry above the cap", x, cap);
    }
}

}  // namespace

void run(Input& input) {
    // With the sanitizers a direct solve of 22 bins takes seconds.
    const int d =
        input.byte() % 16 == 0 ? input.integer(8, 12) : input.integer(1, 7);
    if (input.byte() % 4 == 0) return run_capped(input, std::min(d, 6));
    MetricProjector projector(d);
    const bool is_weighted = input.coin();
    Matrix weights{d,
                   std::vector<double>(static_cast<std::size_t>(d) * d, 1.0)};
    if (is_weighted) weights = symmetric(input, d, true);
    const int n_threads = input.byte() % 32 == 0 ? 2 : 1;
    for (int call = 0; call < 2; ++call) {
        const Matrix a = symmetric(input, d, false);
        double largest = 0.0;
        for (const double x : a.entries)
            largest = std::max(largest, std::abs(x));
        Matrix metric = a;
        ProjectionOptions options{kTol, 0.0, 100, n_threads, kGoOn, {}};
        const ProjectionReport report = projector.project(
            a.entries.data(), is_weighted ? weights.entries.data() : nullptr,
            options, metric.entries.data());
        // Python repairs metrics that scaling back makes subnormal.
        if (largest < 1e-290 || largest > 1e290) continue;
        check_metric(metric);
        if (!report.converged || d <= 2) continue;
        const double size = std::max(norm(metric, weights, largest),
                                     1e-3 * norm(a, weights, largest));
        const double bound = distance_bound(projector.multipliers(kGoOn), a,
                                            metric, weights, largest);
        require(bound <= 1.01 * kTol * size, "the distance", bound,
                kTol * size);
    }
}

}  // namespace groundmetric::fuzz
