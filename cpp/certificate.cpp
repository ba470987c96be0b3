#include "certificate.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>

#include "kernels.h"

namespace groundmetric {
namespace {

// The plan's positive entries, common mass that stayed included.
void set_plan(Certificate& out, const TransportSimplex& simplex, const Mass* r,
              const Mass* c, double unit, int d, bool reduced) {
    struct Entry {
        int row, column;
        Mass mass;
    };
    std::vector<Entry> plan;
    for (int p = 0; reduced && p < d; ++p)
        if (const Mass stays = std::min(r[p], c[p]); stays > 0)
            plan.push_back({p, p, stays});
    for_each_arc(simplex.problem, simplex.tree, [&](int p, int q, Mass mass) {
        plan.push_back({p, q, mass});
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

// minima[p] = min_q M_pq + offset_q.
void minimize_rows(const CostMatrix& matrix, const std::vector<double>& offset,
                   std::vector<double>& minima) {
    minima.resize(static_cast<std::size_t>(matrix.size()));
    kernels().row_minima(matrix.row(0), matrix.stride(), offset.data(),
                         matrix.size(), minima.data());
}

// v on the receiving bins as the simplex left it; on the others as large as the
// sending bins allow.
std::vector<double> extended_potentials(const TransportSimplex& simplex,
                                        const CostMatrix& matrix) {
    const Problem& problem = simplex.problem;
    const int d = matrix.size(), m = problem.n_rows();
    std::vector<double> v(static_cast<std::size_t>(d), kHuge);
    for (int i = 0; i < m; ++i)
        for (int q = 0; q < d; ++q)
            v[q] = std::min(
                v[q], matrix.row(problem.rows[i])[q] - simplex.potential[i]);
    for (int j = 0; j < problem.n_columns(); ++j)
        v[problem.columns[j]] = -simplex.potential[m + j];
    return v;
}

// f(p) = min_k M_p,bins[k] + sign * potential[k].
std::vector<double> extend(const CostMatrix& matrix,
                           const std::vector<int>& bins,
                           const double* potential, double sign) {
    std::vector<double> offset(static_cast<std::size_t>(matrix.stride()),
                               kHuge);
    for (std::size_t k = 0; k < bins.size(); ++k)
        offset[bins[k]] = sign * potential[k];
    if (bins.empty()) offset[0] = 0.0;  // f(p) = M_p0 will do
    std::vector<double> f;
    minimize_rows(matrix, offset, f);
    return f;
}

}  // namespace

std::vector<double> lipschitz_potential(const TransportSimplex& simplex,
                                        const CostMatrix& matrix) {
    const Problem& problem = simplex.problem;
    return extend(matrix, problem.columns,
                  simplex.potential.data() + problem.n_rows(), 1.0);
}

std::vector<double> sender_potential(const TransportSimplex& simplex,
                                     const CostMatrix& matrix) {
    return extend(matrix, simplex.problem.rows, simplex.potential.data(), -1.0);
}

Certificate certify(const TransportSimplex& simplex, const Mass* r,
                    const Mass* c, double unit, const CostMatrix& matrix,
                    bool reduced) {
    const int d = matrix.size();
    Certificate out;
    out.n_pivots = simplex.n_pivots;
    out.value = matrix.unscaled(simplex.cost(), unit);
    set_plan(out, simplex, r, c, unit, d, reduced);

    if (reduced) {
        out.v = lipschitz_potential(simplex, matrix);
        std::transform(out.v.begin(), out.v.end(), out.v.begin(),
                       std::negate<>());
    } else {
        out.v = extended_potentials(simplex, matrix);
    }
    // The largest u that v allows: feasible on all bins, whatever came before.
    std::vector<double> offset(static_cast<std::size_t>(matrix.stride()),
                               kHuge);
    std::transform(out.v.begin(), out.v.end(), offset.begin(), std::negate<>());
    minimize_rows(matrix, offset, out.u);

    double dual = 0.0;
    for (int p = 0; p < d; ++p) {
        // u_p r_p + v_p c_p, and no cancellation of what stays.
        dual += out.u[p] * to_double(r[p] - c[p]) +
                (out.u[p] + out.v[p]) * to_double(c[p]);
        const double off = reduced ? -out.v[p] - out.u[p] : 0.0;
        if (off > simplex.rounding + kTolerance * std::abs(out.u[p]))
            out.is_valid = false;
        out.u[p] *= matrix.scale();
        out.v[p] *= matrix.scale();
    }
    out.dual_value = matrix.unscaled(dual, unit);
    return out;
}

Certificate transport(const Mass* r, const Mass* c, double unit,
                      const CostMatrix& matrix, const Poll& poll) {
    Shared shared{poll};
    Pulse pulse(shared, true);
    TransportSimplex simplex;
    const auto solve = [&](bool reduced) {
        simplex.problem.set_margins(r, c, matrix.size(), reduced);
        simplex.problem.set_costs(matrix);
        simplex.solve(pulse);
        return certify(simplex, r, c, unit, matrix, reduced);
    };
    if (matrix.has_zero_diagonal()) {
        Certificate certificate = solve(true);
        if (certificate.is_valid) return certificate;
    }
    return solve(false);
}

}  // namespace groundmetric
