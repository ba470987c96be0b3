#include "hub/hub_simplex.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <stdexcept>

#include "base/kernels.h"

namespace groundmetric {

void HubSimplex::solve(StopToken& stop) {
    n_pivots = 0;
    n_priced = 0;
    if (problem.n_nodes() == 0) return;
    near_.gather(problem, where_, arcs_);
    start_(problem, arcs_, tree_);
    set_potentials();
    assert(tree_.is_strongly_feasible());
    // As in TransportSimplex, optimality is tested on fresh potentials.
    bool fresh = true;
    const std::int64_t n = problem.n_nodes();
    const std::int64_t limit = 1000 + 10 * n * n;
    next_row_ = 0;
    for (Arc entering;;) {
        if (find_entering_arc(entering)) {
            pivot(entering, tree_, potential_);
            assert(tree_.is_strongly_feasible());
            fresh = false;
            if (++n_pivots % 64 == 0) stop.check();
            if (n_pivots % n == 0) set_potentials();
            if (n_pivots > limit)
                throw std::runtime_error("The hub simplex does not end.");
        } else if (fresh) {
            return;
        } else {
            set_potentials();
            fresh = true;
        }
    }
}

double HubSimplex::arc_cost(Node x) const {
    const Node up = tree_.parent[x];
    if (up == hub()) return tree_.is_row(x) ? near_.threshold() : 0.0;
    const Node row = tree_.is_row(x) ? x : up;
    const Node column = tree_.is_row(x) ? up : x;
    return matrix_.row(
        problem.rows[row])[problem.columns[column - tree_.n_rows]];
}

double HubSimplex::cost() const {
    double sum = 0.0;
    for (int k = 1; k <= problem.n_nodes(); ++k) {
        const Node x = tree_.order[k];
        sum += arc_cost(x) * to_double(tree_.flow[x]);
    }
    return sum;
}

bool HubSimplex::is_accurate(double cost) const {
    constexpr double kEnough = 1e-12;
    double moved = 0.0;
    for (const Mass mass : problem.supply) moved += to_double(mass);
    // Lowering rows by the error of their reduced costs makes them feasible.
    return rounding_ * moved <= kEnough * std::abs(cost);
}

void HubSimplex::set_potentials() {
    const std::size_t size = static_cast<std::size_t>(
        problem.n_rows() + padded(problem.n_columns() + 1));
    potential_.assign(size, 0.0);
    zeros_.assign(size, 0.0);
    rounding_ = kTolerance *
                hang_potentials(
                    tree_, [this](Node x) { return arc_cost(x); }, potential_);
}

// The smaller of bound and min_j C_ij + potential_j, where no potential is less
// than `low`: arcs are sorted, so that most need not be looked at.
double HubSimplex::cheapest(int row, double low, double bound) {
    const double* potential = potential_.data() + problem.n_rows();
    const int begin = arcs_.begin[row], end = arcs_.begin[row + 1];
    int k = begin;
    for (; k < end && arcs_.cost[k] + low < bound; k += kLanes) {
        double lane[kLanes];  // halved until one is left: no chain of minima
        for (int l = 0; l < kLanes; ++l)
            lane[l] = arcs_.cost[k + l] + potential[arcs_.column[k + l]];
        for (int half = kLanes / 2; half > 0; half /= 2)
            for (int l = 0; l < half; ++l)
                lane[l] = std::min(lane[l], lane[l + half]);
        bound = std::min(bound, lane[0]);
    }
    n_priced += k - begin;
    return bound;
}

// From the hub to the columns first: all of them, as they are contiguous. Then
// rows in blocks, in turn, the most negative reduced cost of a block.
bool HubSimplex::find_entering_arc(Arc& entering) {
    constexpr int kBlock = 8;
    const int m = problem.n_rows(), n = problem.n_columns();
    const double* potential = potential_.data() + m;
    const int stride = padded(n + 1);
    double low;
    kernels().row_minima(zeros_.data(), stride, potential, 1, &low);
    if (low < -rounding_) {
        const int j = kernels().find(zeros_.data(), potential, stride, low);
        entering = {hub(), static_cast<Node>(m + j), low};
        return true;
    }
    for (int n_rows = 0; n_rows < m;) {
        const int end = std::min(next_row_ + kBlock, m);
        int best = -1;
        double most = -rounding_, value = 0.0;
        for (int i = next_row_; i < end; ++i) {
            const double bound = potential_[i] + most;
            const double lowest = cheapest(i, low, bound);
            if (lowest < bound) {
                best = i;
                value = lowest;
                most = lowest - potential_[i];
            }
        }
        n_rows += end - next_row_;
        next_row_ = end == m ? 0 : end;
        if (best >= 0) {
            int k = arcs_.begin[best];
            while (arcs_.cost[k] + potential[arcs_.column[k]] != value) ++k;
            entering = {static_cast<Node>(best),
                        static_cast<Node>(m + arcs_.column[k]), most};
            return true;
        }
    }
    return false;
}

}  // namespace groundmetric
