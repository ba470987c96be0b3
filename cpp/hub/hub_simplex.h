// The network simplex on a transportation problem with a hub.
//
//     min  sum_pq M_pq X_pq + t sum_p h_p    over X, h, g >= 0,
//     X 1 + h = supply,  X' 1 + g = demand,  1'h = 1'g,   X_pq = 0 if M_pq = t
//
// h_p goes from row p to the hub at price t, the largest cost, and g_q from
// there to column q for free. The optimum is the same as with all arcs at price
// t, which are too many to price. The hub is the root of the tree; as
// potentials count from it, a row's is at most t and a column's at least 0 when
// the plan is optimal.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.h"
#include "hub/hub_start.h"
#include "hub/near_arcs.h"
#include "transport/cost.h"
#include "transport/pivot.h"
#include "transport/problem.h"
#include "transport/tree.h"

namespace groundmetric {

// Aligned, so that those of two threads never share a cache line.
class alignas(128) HubSimplex {
public:
    Problem problem;  // margins only
    int n_pivots = 0;
    std::int64_t n_priced = 0;  // arcs

    // Keeps references to both.
    HubSimplex(const CostMatrix& matrix, const NearArcs& near)
        : matrix_(matrix), near_(near) {}

    // Solves `problem`, whose margins are set.
    void solve(StopToken& stop);
    // The cost of the plan, scaled and in units of mass.
    double cost() const;
    // Whether this is within 1e-12 of the optimum despite rounding. All
    // potentials count from t: if the plan is very cheap compared with t, the
    // dense simplex is more accurate.
    bool is_accurate(double cost) const;

private:
    void set_potentials();
    double arc_cost(Node x) const;
    bool find_entering_arc(Arc& entering);
    double cheapest(int row, double low, double bound);
    Node hub() const { return static_cast<Node>(problem.n_nodes()); }

    const CostMatrix& matrix_;
    const NearArcs& near_;
    std::vector<int> where_;  // scratch
    ArcRows arcs_;
    HubStart start_;
    SpanningTree tree_;
    std::vector<double> potential_;  // padded: pricing reads whole vectors
    std::vector<double> zeros_;
    double rounding_ = 0.0;  // expected in a reduced cost
    int next_row_ = 0;
};

}  // namespace groundmetric
