#include "transport/greedy_start.h"

#include <algorithm>
#include <cassert>

#include "base/kernels.h"
#include "base/row_blocks.h"

namespace groundmetric {
namespace {

// With fewer arcs, a smoothed plan costs more than it saves.
constexpr int kFewArcs = 2000;

}  // namespace

void GreedyStart::open(const Problem& problem, SpanningTree& tree) {
    tree.resize(problem.n_rows(), problem.n_nodes());
    left_ = problem.supply;
    open_ = problem.demand;
    is_settled_.assign(problem.rows.size(), 0);
    n_open_ = problem.n_columns();
    settled_.clear();
}

void GreedyStart::set_offsets(const Problem& problem) {
    offset_.resize(static_cast<std::size_t>(problem.stride));
    kernels().column_sums(problem.cost(), problem.stride, problem.n_rows(),
                          offset_.data());
    for (double& sum : offset_) sum = -sum / problem.n_rows();
    std::fill(offset_.begin() + problem.n_columns(), offset_.end(), 0.0);
}

void GreedyStart::rank_open_rows(const Problem& problem, StopToken& stop) {
    open_rows_.clear();
    for (int i = 0; i < problem.n_rows(); ++i)
        if (is_settled_[i] == 0)
            open_rows_.push_back({0.0, static_cast<Node>(i)});
    const int n = static_cast<int>(open_rows_.size());
    for_row_blocks(n, problem.stride, stop, [&](int begin, int end) {
        for (int k = begin; k < end; ++k) {
            double first, second;
            kernels().two_smallest(problem.cost_row(open_rows_[k].row),
                                   offset_.data(), problem.stride, &first,
                                   &second);
            open_rows_[k].regret = second - first;
        }
    });
    std::sort(open_rows_.begin(), open_rows_.end(),
              [](const OpenRow& a, const OpenRow& b) {
                  return a.regret != b.regret ? a.regret > b.regret
                                              : a.row < b.row;
              });
}

// Sends what it can from an open row to an open column; true if the row settles
// there, its parent, false if the column settles: the row has filled it. Every
// row counts as having a little more than its mass (the perturbation that makes
// the tree strongly feasible): one that fills a column exactly moves on, to
// settle with flow zero.
bool GreedyStart::settle(int row, int column, SpanningTree& tree) {
    const Node from = static_cast<Node>(row);
    const Node to = static_cast<Node>(tree.n_rows + column);
    if (left_[row] < open_[column] || n_open_ == 1) {
        tree.parent[from] = to;
        tree.flow[from] = left_[row];
        open_[column] -= left_[row];
        is_settled_[row] = 1;
        settled_.push_back(from);
        return true;
    }
    tree.parent[to] = from;
    tree.flow[to] = open_[column];
    left_[row] -= open_[column];
    open_[column] = 0;
    offset_[column] = kHuge;
    --n_open_;
    settled_.push_back(to);
    return false;
}

void GreedyStart::settle_rows(const Problem& problem, SpanningTree& tree,
                              StopToken& stop) {
    rank_open_rows(problem, stop);
    for (const OpenRow& next : open_rows_) {
        const double* cost = problem.cost_row(next.row);
        for (int column = -1; column < 0 || !settle(next.row, column, tree);) {
            double cheapest;
            kernels().row_minima(cost, problem.stride, offset_.data(), 1,
                                 &cheapest);
            column =
                kernels().find(cost, offset_.data(), problem.stride, cheapest);
            assert(column < problem.n_columns());
        }
    }
}

void GreedyStart::operator()(const Problem& problem, SpanningTree& tree,
                             StopToken& stop) {
    open(problem, tree);
    const std::int64_t n_arcs =
        static_cast<std::int64_t>(problem.n_rows()) * problem.n_columns();
    if (n_arcs < kFewArcs) {
        set_offsets(problem);
    } else {
        smoothed_.solve(problem, stop);
        offset_ = smoothed_.offset;
        for (const SmoothedProblem::Share& share : smoothed_.shares)
            if (is_settled_[share.row] == 0 && offset_[share.column] < kHuge)
                settle(share.row, share.column, tree);
    }
    settle_rows(problem, tree, stop);
    // The one open column is the root. Parents settle after their children.
    Node root = tree.parent[settled_.back()];
    tree.parent[root] = root;
    tree.flow[root] = 0;
    settled_.push_back(root);
    std::reverse(settled_.begin(), settled_.end());
    tree.set_order(settled_);
}

}  // namespace groundmetric
