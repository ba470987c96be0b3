#include "hub/hub_start.h"

#include <algorithm>

#include "base/kernels.h"

namespace groundmetric {

void HubStart::set_choices(const Problem& problem, const ArcRows& arcs) {
    const std::size_t m = problem.rows.size(), n = problem.columns.size();
    hub_ = problem.n_columns();
    first_.resize(m);
    second_.resize(m);
    next_.resize(2 * m);
    head_.assign(n + 1, -1);
    closed_.assign(n + 1, 0);
    loss_.assign(static_cast<std::size_t>(padded(problem.n_rows())), kHuge);
    zeros_.assign(loss_.size(), 0.0);
    left_ = problem.supply;
    open_ = problem.demand;
    settled_.clear();
    for (int i = 0; i < problem.n_rows(); ++i) {
        first_[i] = second_[i] = arcs.begin[i];
        watch(arcs, 2 * i);  // with the first choice, for once
        if (arcs.column[first_[i]] != hub_) ++second_[i];
        watch(arcs, 2 * i + 1);
        set_loss(arcs, i);
    }
}

// Rows with only the hub left can wait.
void HubStart::set_loss(const ArcRows& arcs, int row) {
    constexpr double kCheap = 0.5;
    const int first = first_[row];
    loss_[row] = arcs.column[first] == hub_ ? kHuge
                                            : (1 + kCheap) * arcs.cost[first] -
                                                  arcs.cost[second_[row]];
}

// Lists the watcher with the second choice of its row.
void HubStart::watch(const ArcRows& arcs, int watcher) {
    int& head = head_[arcs.column[second_[watcher / 2]]];
    next_[watcher] = head;
    head = watcher;
}

// The rows that counted on the column choose again.
void HubStart::close(const ArcRows& arcs, int column) {
    closed_[column] = 1;
    for (int watcher = head_[column], after; watcher >= 0; watcher = after) {
        after = next_[watcher];
        const int row = watcher / 2;
        if (first_[row] < 0) continue;
        int& second = second_[row];
        if (arcs.column[first_[row]] == column) first_[row] = second;
        while (second == first_[row] || closed_[arcs.column[second]] != 0) {
            if (arcs.column[second] == hub_) break;
            ++second;
        }
        watch(arcs, watcher);
        set_loss(arcs, row);
    }
}

int HubStart::find_next_row() const {
    const int stride = static_cast<int>(loss_.size());
    double least;
    kernels().row_minima(loss_.data(), stride, zeros_.data(), 1, &least);
    if (least >= kHuge) return -1;
    return kernels().find(loss_.data(), zeros_.data(), stride, least);
}

void HubStart::operator()(const Problem& problem, const ArcRows& arcs,
                          SpanningTree& tree) {
    const int m = problem.n_rows(), n = problem.n_columns();
    tree.resize(m, m + n + 1);
    set_choices(problem, arcs);
    const auto settle = [&](int node, int parent, Mass mass) {
        tree.parent[node] = static_cast<Node>(parent);
        tree.flow[node] = mass;
        settled_.push_back(static_cast<Node>(node));
    };
    // As in GreedyStart, a row counts as having a little more than its mass:
    // one that fills a column exactly moves on, and the tree is strongly
    // feasible.
    for (int row; (row = find_next_row()) >= 0;) {
        const int j = arcs.column[first_[row]];
        if (left_[row] < open_[j]) {
            settle(row, m + j, left_[row]);
            open_[j] -= left_[row];
            first_[row] = -1;
            loss_[row] = kHuge;
        } else {
            settle(m + j, row, open_[j]);
            left_[row] -= open_[j];
            close(arcs, j);
        }
    }
    // What is left goes through the hub. Parents settle after their children.
    for (int i = 0; i < m; ++i)
        if (first_[i] >= 0) settle(i, m + n, left_[i]);
    for (int j = 0; j < n; ++j)
        if (closed_[j] == 0) settle(m + j, m + n, open_[j]);
    settle(m + n, m + n, 0);
    std::reverse(settled_.begin(), settled_.end());
    tree.set_order(settled_);
}

}  // namespace groundmetric
