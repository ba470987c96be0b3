// The primal network simplex on a dense transportation problem.
//
// Potentials: every basic arc (i, j) has C_ij = potential_i - potential_j, and
// the reduced cost of any arc is  C_ij - potential_i + potential_j.  A plan is
// optimal when no reduced cost is negative. (Ahuja, Magnanti & Orlin, Network
// Flows, chapter 11; Bazaraa, Jarvis & Sherali, Linear Programming and Network
// Flows, chapter 9. In the paper's terms u_i = potential_i, v_j =
// -potential_j.)
//
// Lower limit of the time: the last pricing pass checks every arc once. At
// d = 128, with 64 x 64 arcs, it takes about half a microsecond with AVX-512.
#pragma once

#include <vector>

#include "base/kernels.h"
#include "base/parallel.h"
#include "transport/greedy_start.h"
#include "transport/pivot.h"
#include "transport/problem.h"
#include "transport/shortlist.h"
#include "transport/tree.h"

namespace groundmetric {

// Aligned, so that the simplexes of two threads never share a cache line.
class alignas(128) TransportSimplex {
public:
    Problem problem;
    SpanningTree tree;
    std::vector<double> potential;  // padded: pricing reads whole vectors
    double rounding = 0.0;          // expected in a reduced cost
    int n_pivots = 0;

    // If only optima up to a ceiling matter: solve() stops once it has proved
    // that the optimum is above it, with the proved bound in `lower` and the
    // potentials that prove it. Scaled.
    double ceiling = kHuge;
    bool is_above_ceiling = false;
    double lower = 0.0;

    // Whether some plan avoids forbidden arcs, but for the rounding of masses;
    // set by both solves.
    bool is_feasible = true;

    // Both solve `problem`, whose margins and costs must be set.
    void solve(StopToken& stop);
    // Starts from the cheaper of the greedy start and `tree`, an old optimum.
    // Must not have a ceiling.
    void solve_again(StopToken& stop);

    // A lower bound of the optimum from any function sign * f of the bins:
    // u_i = min_j C_ij + f_j, v_j = min_i C_ij - u_i, u'supply + v'demand.
    double bound_by(const double* f, double sign);

    // Sets the potentials that `tree` and the costs imply.
    void set_potentials();
    // <C, X> of the current plan, in scaled costs and units of mass.
    double cost() const;
    // The same without what rounding left on forbidden arcs; NaN if no plan
    // avoids these.
    double value() const;
    // Mass on forbidden arcs.
    Mass forbidden_flow() const;
    bool is_forbidden(Node x) const;
    // Cost of the arc between x and its parent.
    double arc_cost(Node x) const;

private:
    void optimize(StopToken& stop);
    // See simplex_capping.cpp.
    void lower_prohibitive_costs(StopToken& stop);
    bool uses_capped_arc(Mass on_forbidden) const;
    template <class Counts>
    double sum_of_costs(Counts counts) const;
    // The largest cost, in absolute value, of arcs of the tree with and without
    // flow.
    struct TreeCosts {
        double used = 0.0, unused = 0.0;
    };
    TreeCosts largest_in_tree() const;
    double worst_gap(StopToken& stop);
    double dual_bound();
    void check_ceiling();
    // So short that pricing them again is cheaper than a list of arcs.
    bool has_short_rows() const { return problem.n_columns() < 48; }
    bool choose_priced_arc(Arc& entering);
    bool choose_from_block(int n, const double* minima, Arc& entering);
    bool find_entering_arc(Arc& entering, StopToken& stop);
    bool find_on_shortlist(Arc& entering, StopToken& stop);
    bool extend_shortlist(StopToken& stop);
    void find_best(int row, int n);
    void refresh();
    std::int64_t n_arcs() const {
        return static_cast<std::int64_t>(problem.n_rows()) *
               problem.n_columns();
    }
    // Pricing rows takes longer than the rest of a pivot.
    bool is_large() const { return n_arcs() > 1 << 17; }

    static constexpr int kNone = -1;
    static constexpr int kFew = 4;  // rows priced at a time

    struct PricedArc {
        Node row, column;
        double cost;
    };
    GreedyStart greedy_;
    Shortlist shortlist_;
    SpanningTree old_tree_;
    std::vector<double> minima_, column_minima_;
    std::vector<int> best_;  // column of each row to add to the shortlist
    std::vector<PricedArc> priced_arcs_;
    int next_row_ = 0;
    int n_extended_ = 0;     // n_pivots when the shortlist was extended
    bool is_fresh_ = false;  // the potentials, since the last pivot
};

}  // namespace groundmetric
