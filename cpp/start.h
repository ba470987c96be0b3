// A first basic solution: greedy, on costs less the mean of their column.
//
// Every row in turn sends its mass to the cheapest open columns, where "cheap"
// is C_ij - mean_i C_ij: a column that is far from all rows should not wait
// until only the farthest are left (the idea of Russell's approximation).
// Rows that lose most by not getting their first choice, those with the largest
// gap between the smallest and the second smallest entry, go first (Vogel's).
#pragma once

#include <vector>

#include "problem.h"
#include "tree.h"

namespace groundmetric {

class GreedyStart {
public:
    // Sets tree to a strongly feasible spanning tree of the problem.
    void operator()(const Problem& problem, SpanningTree& tree);

private:
    struct Turn {
        double regret;
        Node row;
    };
    void set_offsets(const Problem& problem);
    void set_turns(const Problem& problem);

    std::vector<double> offset_;  // minus the column's mean; closed: kHuge
    std::vector<Turn> turns_;
    std::vector<Mass> open_;     // demand not yet met
    std::vector<Node> settled_;  // nodes in the order in which they settle
};

}  // namespace groundmetric
