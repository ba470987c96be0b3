// Potentials that prohibitive costs do not spoil.
//
// A tree may hold an arc that costs far more than any that the plan uses, with
// no flow on it. All potentials below this arc are then as large as its cost,
// and are rounded accordingly: reduced costs are lost in the rounding.
//
// So such costs are lowered to a cap, and the tree is optimized again. If the
// plan then uses no arc at the cap, it is optimal for the true costs, for with
// C' <= C and equality where X > 0, any other plan Y has
//
//     <C, Y>  >=  <C', Y>  >=  <C', X>  =  <C, X>,
//
// and the potentials, feasible for C', are feasible for C.
//
// Forbidden arcs are such costs, too, and not used as a rule. Sums of masses
// that agree but for rounding leave a little flow on them, which no plan
// avoids: as much is allowed, and left out of the plan.
#include <algorithm>
#include <cmath>

#include "transport/simplex.h"

namespace groundmetric {
namespace {

// 2^-40 of all mass, or up to twice that.
constexpr Mass kNegligible = Mass{1} << 80;

}  // namespace

TransportSimplex::TreeCosts TransportSimplex::largest_in_tree() const {
    TreeCosts out;
    for (int k = 1; k < problem.n_nodes(); ++k) {
        const Node x = tree.order[k];
        const bool is_used = tree.flow[x] > 0 && !is_forbidden(x);
        double& largest = is_used ? out.used : out.unused;
        largest = std::max(largest, std::abs(arc_cost(x)));
    }
    return out;
}

// Whether the plan uses a capped arc, or more of the forbidden ones.
bool TransportSimplex::uses_capped_arc(Mass on_forbidden) const {
    for (int k = 1; k < problem.n_nodes(); ++k) {
        const Node x = tree.order[k], up = tree.parent[x];
        const int row = tree.is_row(x) ? x : up;
        const int column = (tree.is_row(x) ? up : x) - tree.n_rows;
        if (tree.flow[x] > 0 && problem.is_capped(row, column) &&
            !problem.is_forbidden(row, column))
            return true;
    }
    return forbidden_flow() > on_forbidden;
}

void TransportSimplex::lower_prohibitive_costs(StopToken& stop) {
    // An arc without flow may cost kFar times what the plan uses; if it
    // costs more, it is lowered to a little less.
    constexpr double kFar = 64.0, kNear = 16.0;
    const Mass least = forbidden_flow();
    is_feasible = least <= kNegligible;
    if (!is_feasible) return;
    const auto n_empty = std::count(tree.flow.begin(), tree.flow.end(), 0);
    // The root; as a rule, all arcs have flow.
    if (n_empty == 1 && least == 0) return;
    for (double lowest = kHuge; !is_above_ceiling;) {
        const auto [used, unused] = largest_in_tree();
        if (unused <= kFar * used) return;
        double cap = kNear * used;
        for (;; cap = std::max(kNear * cap, kTolerance * unused)) {
            problem.cap_costs(cap);
            shortlist_.clear();
            set_potentials();
            optimize(stop);
            if (is_above_ceiling || !uses_capped_arc(least)) break;
        }
        if (cap > lowest / 2.0) return;  // nothing more to gain
        lowest = cap;
    }
}

}  // namespace groundmetric
