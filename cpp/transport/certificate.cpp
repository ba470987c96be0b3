#include "transport/certificate.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>

#include "base/kernels.h"
#include "base/row_blocks.h"

namespace groundmetric {
namespace {

// The positive entries of the plan, including common mass that stayed.
void set_plan(Certificate& out, const TransportSimplex& simplex, const Mass* r,
              const Mass* c, double unit, const CostMatrix& matrix,
              bool reduced) {
    struct Entry {
        int row, column;
        Mass mass;
    };
    std::vector<Entry> plan;
    for (int p = 0; reduced && p < matrix.n_rows(); ++p)
        if (const Mass stays = std::min(r[p], c[p]); stays > 0)
            plan.push_back({p, p, stays});
    for_each_arc(simplex.problem, simplex.tree, [&](int p, int q, Mass mass) {
        if (matrix.row(p)[q] < matrix.forbidden()) plan.push_back({p, q, mass});
    });
    std::sort(plan.begin(), plan.end(), [](const Entry& a, const Entry& b) {
        return std::tie(a.row, a.column) < std::tie(b.row, b.column);
    });
    for (const Entry& entry : plan) {
        out.rows.push_back(entry.row);
        out.columns.push_back(entry.column);
        out.flow.push_back(to_double(entry.mass) * unit);
    }
}

// min_q M_pq + offset_q of each p.
std::vector<double> row_minima(const CostMatrix& matrix,
                               const std::vector<double>& offset,
                               StopToken& stop) {
    std::vector<double> minima(static_cast<std::size_t>(matrix.n_rows()));
    for_row_blocks(matrix.n_rows(), matrix.stride(), stop,
                   [&](int begin, int end) {
                       kernels().row_minima(matrix.row(begin), matrix.stride(),
                                            offset.data(), end - begin,
                                            minima.data() + begin);
                   });
    return minima;
}

// The v of the simplex on the receiving bins; on the others, the largest that
// the sending bins allow: no cost of a bin without mass, however large, lowers
// the u of one that sends, not even by rounding.
std::vector<double> extended_potentials(const TransportSimplex& simplex,
                                        const CostMatrix& matrix) {
    const Problem& problem = simplex.problem;
    const int n = matrix.n_columns(), m = problem.n_rows();
    std::vector<double> v(static_cast<std::size_t>(n), kHuge);
    for (int i = 0; i < m; ++i) {
        const double* cost = matrix.row(problem.rows[i]);
        const double u = simplex.potential[i];
        for (int q = 0; q < n; ++q) {
            v[q] = std::min(v[q], cost[q] - u);
            if (cost[q] - v[q] < u) v[q] = std::nextafter(v[q], -kHuge);
        }
    }
    // Where all arcs are forbidden any number will do; a small one is exact.
    if (matrix.has_forbidden())
        for (double& each : v)
            if (each > matrix.forbidden() / 2.0) each = 0.0;
    for (int j = 0; j < problem.n_columns(); ++j)
        v[problem.columns[j]] = -simplex.potential[m + j];
    return v;
}

// f(p) = min_k M_p,bins[k] + sign * potential[k].
std::vector<double> extend(const CostMatrix& matrix,
                           const std::vector<int>& bins,
                           const double* potential, double sign,
                           StopToken& stop) {
    std::vector<double> offset(static_cast<std::size_t>(matrix.stride()),
                               kHuge);
    for (std::size_t k = 0; k < bins.size(); ++k)
        offset[bins[k]] = sign * potential[k];
    if (bins.empty()) offset[0] = 0.0;  // f(p) = M_p0 will do
    return row_minima(matrix, offset, stop);
}

// u'r + v'c. Of a common bin, what both have is summed as (u + v) times it, so
// that mass that stays causes no cancellation; nor does the potential of a bin
// where one has nothing.
double dual_value(const Certificate& proof, const Mass* r, const Mass* c) {
    const std::size_t m = proof.u.size(), n = proof.v.size();
    double sum = 0.0;
    for (std::size_t p = 0; p < std::min(m, n); ++p) {
        const Mass common = std::min(r[p], c[p]);
        sum += proof.u[p] * to_double(r[p] - common) +
               proof.v[p] * to_double(c[p] - common) +
               (proof.u[p] + proof.v[p]) * to_double(common);
    }
    for (std::size_t p = n; p < m; ++p) sum += proof.u[p] * to_double(r[p]);
    for (std::size_t q = m; q < n; ++q) sum += proof.v[q] * to_double(c[q]);
    return sum;
}

// Whether u = -v up to rounding, as it must be if common mass stays.
bool agree(const std::vector<double>& u, const std::vector<double>& v,
           double rounding) {
    for (std::size_t p = 0; p < u.size(); ++p)
        if (-v[p] - u[p] > rounding + kTolerance * std::abs(u[p])) return false;
    return true;
}

// The largest u that v allows: u_p = min_q M_pq - v_q, feasible on all bins.
std::vector<double> largest_u(const CostMatrix& matrix,
                              const std::vector<double>& v, StopToken& stop) {
    std::vector<double> offset(static_cast<std::size_t>(matrix.stride()),
                               kHuge);
    std::transform(v.begin(), v.end(), offset.begin(), std::negate<>());
    return row_minima(matrix, offset, stop);
}

// v = -f, f the Lipschitz function of a reduced problem.
std::vector<double> reduced_v(const TransportSimplex& simplex,
                              const CostMatrix& matrix, StopToken& stop) {
    std::vector<double> v = lipschitz_potential(simplex, matrix, stop);
    std::transform(v.begin(), v.end(), v.begin(), std::negate<>());
    return v;
}

}  // namespace

std::vector<double> lipschitz_potential(const TransportSimplex& simplex,
                                        const CostMatrix& matrix,
                                        StopToken& stop) {
    const Problem& problem = simplex.problem;
    return extend(matrix, problem.columns,
                  simplex.potential.data() + problem.n_rows(), 1.0, stop);
}

std::vector<double> sender_potential(const TransportSimplex& simplex,
                                     const CostMatrix& matrix,
                                     StopToken& stop) {
    return extend(matrix, simplex.problem.rows, simplex.potential.data(), -1.0,
                  stop);
}

bool proves_that_mass_stays(const TransportSimplex& simplex,
                            const CostMatrix& matrix, StopToken& stop) {
    const std::vector<double> v = reduced_v(simplex, matrix, stop);
    return agree(largest_u(matrix, v, stop), v, simplex.rounding);
}

Potentials potentials(const TransportSimplex& simplex, const CostMatrix& matrix,
                      bool reduced, StopToken& stop) {
    Potentials out;
    out.v = reduced ? reduced_v(simplex, matrix, stop)
                    : extended_potentials(simplex, matrix);
    out.u = largest_u(matrix, out.v, stop);
    return out;
}

Certificate certify(const TransportSimplex& simplex, const Mass* r,
                    const Mass* c, double unit, const CostMatrix& matrix,
                    bool reduced, StopToken& stop) {
    Certificate out;
    out.n_pivots = simplex.n_pivots;
    out.value = matrix.unscaled(simplex.value(), unit);
    out.forbidden = to_double(simplex.forbidden_flow()) * unit;
    set_plan(out, simplex, r, c, unit, matrix, reduced);
    Potentials found = potentials(simplex, matrix, reduced, stop);
    out.u = std::move(found.u);
    out.v = std::move(found.v);

    out.dual_value = matrix.unscaled(dual_value(out, r, c), unit);
    out.is_valid = !reduced || agree(out.u, out.v, simplex.rounding);
    for (double& u : out.u) u *= matrix.scale();
    for (double& v : out.v) v *= matrix.scale();
    return out;
}

Certificate transport(const Mass* r, const Mass* c, double unit,
                      const CostMatrix& matrix, const Poll& poll) {
    Shared shared{poll};
    StopToken stop(shared, true);
    TransportSimplex simplex;
    const auto solve = [&](bool reduced) {
        simplex.problem.set_margins(r, matrix.n_rows(), c, matrix.n_columns(),
                                    reduced);
        simplex.problem.set_costs(matrix);
        simplex.solve(stop);
        return certify(simplex, r, c, unit, matrix, reduced, stop);
    };
    if (matrix.may_mass_stay(1, 1, poll) != Stay::no) {
        Certificate certificate = solve(true);
        if (certificate.is_valid) return certificate;
    }
    return solve(false);
}

}  // namespace groundmetric
