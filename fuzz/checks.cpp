#include "checks.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace groundmetric::fuzz {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr double kTiny = std::numeric_limits<double>::min();

double largest_of(const std::vector<double>& potentials,
                  const std::vector<double>& masses) {
    double largest = 0.0;
    for (std::size_t p = 0; p < masses.size(); ++p)
        if (masses[p] > 0.0)
            largest = std::max(largest, std::abs(potentials[p]));
    return largest;
}

double sum_of(const std::vector<double>& x) {
    double sum = 0.0;
    for (const double entry : x) sum += entry;
    return sum;
}

void check_plan(const Certificate& proof, const Pair& pair) {
    std::vector<long double> sent(pair.r.size()), received(pair.c.size());
    long double value = 0.0, size = 0.0;
    for (std::size_t k = 0; k < proof.flow.size(); ++k) {
        const int p = proof.rows[k], q = proof.columns[k];
        require(p >= 0 && p < pair.m() && q >= 0 && q < pair.n(), "bins", p, q);
        require(proof.flow[k] > 0.0, "a flow", proof.flow[k]);
        sent[p] += proof.flow[k];
        received[q] += proof.flow[k];
        const long double cost =
            pair.cost[static_cast<std::size_t>(p) * pair.n() + q];
        value += cost * proof.flow[k];
        size += std::abs(cost) * proof.flow[k];
    }
    const double slack = 4.0 * (pair.m() + pair.n()) * kEps * pair.total;
    const auto check = [&](const std::vector<long double>& sums,
                           const std::vector<double>& masses) {
        const double factor = pair.total / sum_of(masses);
        for (std::size_t p = 0; p < masses.size(); ++p) {
            require_close(static_cast<double>(sums[p]), masses[p] * factor,
                          slack, "a margin");
            require(masses[p] > 0.0 || sums[p] == 0.0, "mass of an empty bin");
        }
    };
    check(sent, pair.r);
    check(received, pair.c);
    require_close(proof.value, static_cast<double>(value),
                  static_cast<double>(size) * 1e-13 +
                      pair.total * pair.largest_cost() * kTiny + kTiny,
                  "the value of the plan");
}

}  // namespace

void fail(const char* what, double found, double allowed) {
    std::fprintf(stderr, "Wrong: %s: %.17g, allowed: %.17g\n", what, found,
                 allowed);
    std::abort();
}

void require_close(double a, double b, double slack, const char* what) {
    if (!(std::abs(a - b) <= slack)) {
        std::fprintf(stderr, "%.17g is not %.17g.\n", a, b);
        fail(what, std::abs(a - b), slack);
    }
}

double Pair::largest_cost() const {
    double largest = 0.0;
    for (const double x : cost) largest = std::max(largest, std::abs(x));
    return largest;
}

bool Pair::is_in_range() const {
    const double most = (r.size() + c.size()) * 4.0 * largest_cost();
    return std::isfinite(most) && std::isfinite(most * total);
}

double allowed_gap(const Certificate& proof, const Pair& pair) {
    const double largest =
        std::max(largest_of(proof.u, pair.r), largest_of(proof.v, pair.c));
    const int n = pair.m() + pair.n();
    return pair.total * largest * (0x1p-46 + 4.0 * n * kEps) +
           (pair.total + 1.0) * kTiny * (1.0 + pair.largest_cost());
}

void check_transport(const Certificate& proof, const Pair& pair) {
    if (!pair.is_in_range()) return;
    require(std::isfinite(proof.value), "the value", proof.value);
    check_plan(proof, pair);
    const double tiny = kTiny * (1.0 + pair.largest_cost());
    for (int p = 0; p < pair.m(); ++p)
        for (int q = 0; q < pair.n(); ++q) {
            const double u = proof.u[p], v = proof.v[q];
            const double cost =
                pair.cost[static_cast<std::size_t>(p) * pair.n() + q];
            const double slack =
                4.0 * kEps * (std::abs(u) + std::abs(v) + std::abs(cost)) +
                tiny;
            require(u + v - cost <= slack, "a reduced cost", u + v - cost,
                    slack);
        }
    const double gap = proof.value - proof.dual_value;
    require(std::abs(gap) <= allowed_gap(proof, pair), "the gap", gap,
            allowed_gap(proof, pair));
}

Certificate solve(const Pair& pair) {
    const Masses left(pair.r.data(), 1, pair.m(), pair.total);
    const Masses right(pair.c.data(), 1, pair.n(), pair.total);
    const CostMatrix matrix(pair.cost.data(), pair.m(), pair.n());
    const Certificate proof =
        transport(left.row(0), right.row(0), left.unit(), matrix, kGoOn);
    check_transport(proof, pair);
    return proof;
}

}  // namespace groundmetric::fuzz
