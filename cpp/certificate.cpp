#include "certificate.h"

#include <algorithm>
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
        out.flow.push_back(static_cast<double>(entry.mass) * unit);
    }
}

// f(p) = min_q M_pq - v_q over the receiving bins q: f(p) - f(q) <= M_pq by the
// triangle inequality, and u = f, v = -f agree with the simplex on its bins.
void set_lipschitz_potentials(Certificate& out, const TransportSimplex& simplex,
                              const CostMatrix& matrix) {
    const Problem& problem = simplex.problem;
    std::vector<double> offset(matrix.stride(), kHuge);
    for (int j = 0; j < problem.n_columns(); ++j)
        offset[problem.columns[j]] = simplex.potential[problem.n_rows() + j];
    if (problem.n_nodes() == 0) offset[0] = 0.0;  // f(p) = M_p0 will do
    kernels().row_minima(matrix.row(0), matrix.stride(), offset.data(),
                         matrix.size(), out.u.data());
    std::transform(out.u.begin(), out.u.end(), out.v.begin(), std::negate<>());
}

// The simplex's potentials, and on bins without mass the largest feasible ones.
void set_extended_potentials(Certificate& out, const TransportSimplex& simplex,
                             const CostMatrix& matrix) {
    const Problem& problem = simplex.problem;
    const int d = matrix.size(), m = problem.n_rows();
    std::fill(out.v.begin(), out.v.end(), kHuge);
    for (int i = 0; i < m; ++i)
        for (int q = 0; q < d; ++q)
            out.v[q] = std::min(out.v[q], matrix.row(problem.rows[i])[q] -
                                              simplex.potential[i]);
    for (int j = 0; j < problem.n_columns(); ++j)
        out.v[problem.columns[j]] = -simplex.potential[m + j];
    std::vector<double> offset(matrix.stride(), kHuge);
    std::transform(out.v.begin(), out.v.end(), offset.begin(), std::negate<>());
    kernels().row_minima(matrix.row(0), matrix.stride(), offset.data(), d,
                         out.u.data());
    for (int i = 0; i < m; ++i) out.u[problem.rows[i]] = simplex.potential[i];
}

// Whether f(p) - f(q) <= M_pq for all bins.
bool is_lipschitz(std::vector<double> f, const CostMatrix& matrix) {
    const std::size_t d = f.size();
    f.resize(matrix.stride(), kHuge);
    std::vector<double> largest(
        d);  // feasible values of f(p), given the others
    kernels().row_minima(matrix.row(0), matrix.stride(), f.data(),
                         matrix.size(), largest.data());
    for (std::size_t p = 0; p < d; ++p)
        if (f[p] > largest[p] + kTolerance) return false;
    return true;
}

}  // namespace

Certificate certify(const TransportSimplex& simplex, const Mass* r,
                    const Mass* c, double unit, const CostMatrix& matrix,
                    bool reduced) {
    const int d = matrix.size();
    Certificate out;
    out.n_pivots = simplex.n_pivots;
    out.value = simplex.cost() * unit * matrix.scale();
    set_plan(out, simplex, r, c, unit, d, reduced);

    out.u.resize(static_cast<std::size_t>(d));
    out.v.resize(static_cast<std::size_t>(d));
    if (reduced) {
        set_lipschitz_potentials(out, simplex, matrix);
        out.is_valid = is_lipschitz(out.u, matrix);
    } else {
        set_extended_potentials(out, simplex, matrix);
    }
    for (int p = 0; p < d; ++p) {
        out.u[p] *= matrix.scale();
        out.v[p] *= matrix.scale();
        // With v = -u what stays has no part in u'r + v'c, not even rounding.
        const Mass stays = reduced ? std::min(r[p], c[p]) : 0;
        out.dual_value +=
            out.u[p] * (static_cast<double>(r[p] - stays) * unit) +
            out.v[p] * (static_cast<double>(c[p] - stays) * unit);
    }
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
