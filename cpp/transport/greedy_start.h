// A first basic solution: greedy, on costs less a potential of their column.
//
// Every row in next sends its mass to the cheapest open columns, where "cheap"
// is C_ij - v_j. Rows that lose most by not getting their first choice, those
// with the largest gap between the smallest and the second smallest entry, go
// first (Vogel's approximation).
//
// Small problems take the mean of the column as v_j: a column that is far from
// all rows should not wait until only the farthest are left (the idea of
// Russell's approximation). Larger ones take the potentials of a smoothed plan,
// and first settle the arcs that this plan says are leaves of the tree; the
// rows left over then follow one by one. That leaves a half to a quarter of the
// pivots.
#pragma once

#include <vector>

#include "transport/problem.h"
#include "transport/smoothed_problem.h"
#include "transport/tree.h"

namespace groundmetric {

class GreedyStart {
public:
    // Sets tree to a strongly feasible spanning tree of the problem.
    void operator()(const Problem& problem, SpanningTree& tree,
                    StopToken& stop);

    // The arcs that the smoothed plan of the last problem uses, if it had one.
    const std::vector<SmoothedProblem::Share>& shares() const {
        return smoothed_.shares;
    }

private:
    struct OpenRow {
        double regret;
        Node row;
    };
    void open(const Problem& problem, SpanningTree& tree);
    void set_offsets(const Problem& problem);
    void rank_open_rows(const Problem& problem, StopToken& stop);
    bool settle(int row, int column, SpanningTree& tree);
    void settle_rows(const Problem& problem, SpanningTree& tree,
                     StopToken& stop);

    SmoothedProblem smoothed_;
    std::vector<double> offset_;  // minus the column's potential; closed: kHuge
    std::vector<OpenRow> open_rows_;
    std::vector<Mass> left_, open_;  // supply and demand not yet met
    std::vector<char> is_settled_;   // of rows
    int n_open_ = 0;                 // columns
    std::vector<Node> settled_;      // nodes in the order in which they settle
};

}  // namespace groundmetric
