// A first basic solution of a network with a hub: Vogel's approximation.
//
// The row that would lose most if it did not get its cheapest open column, but
// only the second cheapest, goes first; the hub is always open. Regrets are
// kept up to date: when a column closes, the rows that counted on it choose
// again. On sparse rows sorted by cost this is cheap, and it leaves half as
// many pivots as the dense start.
#pragma once

#include <vector>

#include "hub/near_arcs.h"
#include "transport/problem.h"
#include "transport/tree.h"

namespace groundmetric {

class HubStart {
public:
    // Sets tree to a strongly feasible spanning tree below the hub, the node
    // after the last column. `arcs` are the problem's, from NearArcs::gather.
    void operator()(const Problem& problem, const ArcRows& arcs,
                    SpanningTree& tree);

private:
    void set_choices(const Problem& problem, const ArcRows& arcs);
    void set_loss(const ArcRows& arcs, int row);
    void watch(const ArcRows& arcs, int watcher);
    void close(const ArcRows& arcs, int column);
    int find_next_row() const;

    int hub_ = 0;  // as a column
    // The cheapest and the second cheapest open arc of each row; both are the
    // arc to the hub if no other is open. -1 when the row has settled.
    std::vector<int> first_, second_;
    // cost(first) - cost(second) + cost(first) / 2; kHuge if not available.
    std::vector<double> loss_;
    std::vector<double> zeros_;
    std::vector<char> closed_;
    // For each column a list of watchers, rows that have it as one of their
    // two; 2 * row and 2 * row + 1 are watchers of that row.
    std::vector<int> head_, next_;
    std::vector<Mass> left_, open_;  // supply and demand not yet met
    std::vector<Node> settled_;      // nodes in the order in which they settle
};

}  // namespace groundmetric
