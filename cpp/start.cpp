#include "start.h"

#include <algorithm>
#include <cassert>

#include "kernels.h"

namespace groundmetric {

void GreedyStart::set_offsets(const Problem& problem) {
    offset_.resize(static_cast<std::size_t>(problem.stride));
    kernels().column_sums(problem.cost.data(), problem.stride, problem.n_rows(),
                          offset_.data());
    for (double& sum : offset_) sum = -sum / problem.n_rows();
    std::fill(offset_.begin() + problem.n_columns(), offset_.end(), 0.0);
}

void GreedyStart::set_turns(const Problem& problem) {
    turns_.resize(problem.rows.size());
    for (int i = 0; i < problem.n_rows(); ++i) {
        double first, second;
        kernels().two_smallest(problem.cost_row(i), offset_.data(),
                               problem.stride, &first, &second);
        turns_[i] = {second - first, static_cast<Node>(i)};
    }
    std::sort(turns_.begin(), turns_.end(), [](const Turn& a, const Turn& b) {
        return a.regret != b.regret ? a.regret > b.regret : a.row < b.row;
    });
}

void GreedyStart::operator()(const Problem& problem, SpanningTree& tree) {
    const int m = problem.n_rows(), n = problem.n_columns();
    tree.resize(m, m + n);
    set_offsets(problem);
    set_turns(problem);
    open_ = problem.demand;
    settled_.clear();
    int n_open = n;

    // A row settles when its last mass goes to a column, its parent; a column
    // settles when a row fills it. Every row counts as having a little more
    // than its mass (the perturbation that makes the tree strongly feasible):
    // a row that fills a column exactly moves on, to settle with flow zero.
    for (const Turn& turn : turns_) {
        const double* cost = problem.cost_row(turn.row);
        Mass left = problem.supply[turn.row];
        for (;;) {
            double cheapest;
            kernels().row_minima(cost, problem.stride, offset_.data(), 1,
                                 &cheapest);
            const int j =
                kernels().find(cost, offset_.data(), problem.stride, cheapest);
            assert(j < n);
            const Node column = static_cast<Node>(m + j);
            if (left < open_[j] || n_open == 1) {
                tree.parent[turn.row] = column;
                tree.flow[turn.row] = left;
                open_[j] -= left;
                settled_.push_back(turn.row);
                break;
            }
            tree.parent[column] = turn.row;
            tree.flow[column] = open_[j];
            left -= open_[j];
            open_[j] = 0;
            offset_[j] = kHuge;
            --n_open;
            settled_.push_back(column);
        }
    }
    // The one open column is the root. Parents settle after their children.
    const Node root = tree.parent[turns_.back().row];
    tree.parent[root] = root;
    tree.flow[root] = 0;
    settled_.push_back(root);
    std::reverse(settled_.begin(), settled_.end());
    tree.set_order(settled_);
}

}  // namespace groundmetric
