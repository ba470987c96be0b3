#include "transport/simplex.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "base/kernels.h"
#include "base/row_blocks.h"

namespace groundmetric {

namespace {

// Checking the ceiling costs as much as four pivots.
constexpr int kPivotsPerCheck = 16;

}  // namespace

void TransportSimplex::solve(StopToken& stop) {
    n_pivots = 0;
    is_above_ceiling = false;
    is_feasible = true;
    if (problem.n_nodes() == 0) return;
    greedy_(problem, tree, stop);
    set_potentials();
    shortlist_.clear();
    if (is_large()) shortlist_.set(problem, greedy_.shares());
    optimize(stop);
    lower_prohibitive_costs(stop);
}

void TransportSimplex::solve_again(StopToken& stop) {
    n_pivots = 0;
    is_above_ceiling = false;
    is_feasible = true;
    if (problem.n_nodes() == 0) return;
    set_potentials();
    const double gap = worst_gap(stop);
    if (gap == 0.0) return lower_prohibitive_costs(stop);
    shortlist_.clear();
    // The old plan costs at most `gap` more than the best plan. If that is
    // little, no other start can be much cheaper: do not try one.
    constexpr double kLittle = 0.01;
    const double old_cost = cost();
    if (gap > kLittle * std::abs(old_cost)) {
        std::swap(tree, old_tree_);
        greedy_(problem, tree, stop);
        if (cost() >= old_cost)
            std::swap(tree, old_tree_);
        else if (is_large())
            shortlist_.set(problem, greedy_.shares());
        set_potentials();
    }
    optimize(stop);
    lower_prohibitive_costs(stop);
}

void TransportSimplex::optimize(StopToken& stop) {
    // Fresh potentials differ from the costs by single roundings; potentials
    // that were shifted many times by more. Optimality is tested on fresh ones.
    assert(tree.is_strongly_feasible());
    is_fresh_ = true;
    const std::int64_t n = problem.n_nodes();
    const std::int64_t limit = 1000 + 10 * n * n;
    next_row_ = 0;
    n_extended_ = 0;
    priced_arcs_.clear();
    is_above_ceiling = false;
    check_ceiling();
    if (is_above_ceiling) return;
    for (Arc entering;;) {
        if (find_entering_arc(entering, stop)) {
            pivot(entering, tree, potential);
            assert(tree.is_strongly_feasible());
            is_fresh_ = false;
            if (++n_pivots % 64 == 0) stop.check();
            if (n_pivots % kPivotsPerCheck == 0) check_ceiling();
            if (is_above_ceiling) return;
            if (n_pivots % n == 0) set_potentials();
            if (n_pivots > limit)
                throw std::runtime_error("The transport simplex does not end.");
        } else if (is_fresh_) {
            return;
        } else {
            refresh();
        }
    }
}

void TransportSimplex::check_ceiling() {
    if (ceiling >= kHuge) return;
    lower = dual_bound();
    is_above_ceiling = lower > ceiling;
    if (!is_above_ceiling) return;
    const int m = problem.n_rows();
    for (int i = 0; i < m; ++i) potential[i] = -minima_[i];
    for (int j = 0; j < problem.n_columns(); ++j)
        potential[m + j] = -column_minima_[j];
}

// The value of potentials that are feasible: rows as high as the columns allow,
// then columns as high as these rows allow.
double TransportSimplex::dual_bound() {
    const int m = problem.n_rows(), n = problem.n_columns();
    minima_.resize(static_cast<std::size_t>(m));
    kernels().row_minima(problem.cost(), problem.stride, potential.data() + m,
                         m, minima_.data());
    double bound = 0.0;
    for (int i = 0; i < m; ++i) {
        bound += minima_[i] * to_double(problem.supply[i]);
        minima_[i] = -minima_[i];
    }
    column_minima_.assign(static_cast<std::size_t>(problem.stride), kHuge);
    kernels().min_plus(minima_.data(), problem.cost(), problem.stride, m, 1,
                       problem.stride, column_minima_.data());
    for (int j = 0; j < n; ++j)
        bound += column_minima_[j] * to_double(problem.demand[j]);
    return bound;
}

double TransportSimplex::bound_by(const double* f, double sign) {
    const int m = problem.n_rows();
    potential.assign(static_cast<std::size_t>(m + problem.stride), 0.0);
    for (int j = 0; j < problem.n_columns(); ++j)
        potential[m + j] = sign * f[problem.columns[j]];
    return dual_bound();
}

double TransportSimplex::arc_cost(Node x) const {
    const Node up = tree.parent[x];
    const Node row = tree.is_row(x) ? x : up, column = tree.is_row(x) ? up : x;
    return problem.cost_row(row)[column - tree.n_rows];
}

bool TransportSimplex::is_forbidden(Node x) const {
    const Node up = tree.parent[x];
    const Node row = tree.is_row(x) ? x : up, column = tree.is_row(x) ? up : x;
    return problem.is_forbidden(row, column - tree.n_rows);
}

Mass TransportSimplex::forbidden_flow() const {
    Mass sum = 0;
    if (problem.forbidden >= kHuge) return sum;
    for (int k = 1; k < problem.n_nodes(); ++k)
        if (is_forbidden(tree.order[k])) sum += tree.flow[tree.order[k]];
    return sum;
}

// Summed with its rounding errors (Knuth's two-sum), so that the same plan has
// the same cost whatever tree it comes from: ties stay ties.
template <class Counts>
double TransportSimplex::sum_of_costs(Counts counts) const {
    double sum = 0.0, lost = 0.0;
    for (int k = 1; k < problem.n_nodes(); ++k) {
        const Node x = tree.order[k];
        if (!counts(x)) continue;
        const double term = arc_cost(x) * to_double(tree.flow[x]);
        const double next = sum + term, rounded = next - sum;
        lost += (sum - (next - rounded)) + (term - rounded);
        sum = next;
    }
    return sum + lost;
}

double TransportSimplex::cost() const {
    return sum_of_costs([](Node) { return true; });
}

double TransportSimplex::value() const {
    if (problem.forbidden >= kHuge) return cost();
    if (!is_feasible) return std::numeric_limits<double>::quiet_NaN();
    return sum_of_costs([this](Node x) { return !is_forbidden(x); });
}

void TransportSimplex::set_potentials() {
    potential.assign(
        static_cast<std::size_t>(problem.n_rows() + problem.stride), 0.0);
    // Relative to the largest potential, not to the largest cost, which no plan
    // may use.
    rounding = kTolerance *
               hang_potentials(
                   tree, [this](Node x) { return arc_cost(x); }, potential);
}

void TransportSimplex::refresh() {
    if (!is_fresh_) set_potentials();
    is_fresh_ = true;
}

// A bound on the cost of the plan above the optimum: lowering the potential of
// each row by its worst reduced cost makes the potentials feasible, at this
// price. Zero if the plan is optimal.
double TransportSimplex::worst_gap(StopToken& stop) {
    const int m = problem.n_rows();
    minima_.resize(static_cast<std::size_t>(m));
    for_row_blocks(m, problem.stride, stop, [&](int begin, int end) {
        kernels().row_minima(problem.cost_row(begin), problem.stride,
                             potential.data() + m, end - begin,
                             minima_.data() + begin);
    });
    double gap = 0.0;
    for (int i = 0; i < m; ++i) {
        const double excess = potential[i] - minima_[i];
        if (excess > rounding) gap += excess * to_double(problem.supply[i]);
    }
    return gap;
}

}  // namespace groundmetric
