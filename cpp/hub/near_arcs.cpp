#include "hub/near_arcs.h"

#include <algorithm>

#include "base/kernels.h"

namespace groundmetric {

std::optional<NearArcs> NearArcs::of(const CostMatrix& matrix) {
    // With half of the entries at the maximum, both ways take about as long.
    constexpr double kShare = 0.6;
    const int m = matrix.n_rows(), n = matrix.n_columns();
    const bool is_square = matrix.is_square();  // with a diagonal of its own
    double largest = -kHuge;
    std::int64_t n_largest = 0;
    for (int p = 0; p < m; ++p)
        for (int q = 0; q < n; ++q) {
            const double cost = matrix.row(p)[q];
            if (cost > largest) n_largest = 0;
            largest = std::max(largest, cost);
            n_largest += cost == largest && !(is_square && p == q);
        }
    const std::int64_t n_arcs =
        static_cast<std::int64_t>(m) * n - (is_square ? m : 0);
    const double share =
        static_cast<double>(n_largest) / static_cast<double>(n_arcs);
    if (n_arcs == 0 || share < kShare) return {};
    return NearArcs(matrix, largest);
}

NearArcs::NearArcs(const CostMatrix& matrix, double threshold)
    : threshold_(threshold), n_columns_(matrix.n_columns()) {
    std::vector<int> near;
    for (int p = 0; p < matrix.n_rows(); ++p) {
        const double* cost = matrix.row(p);
        near.clear();
        for (int q = 0; q < matrix.n_columns(); ++q)
            if (cost[q] < threshold) near.push_back(q);
        std::sort(near.begin(), near.end(), [cost](int a, int b) {
            return cost[a] != cost[b] ? cost[a] < cost[b] : a < b;
        });
        all_.begin.push_back(static_cast<int>(all_.column.size()));
        for (const int q : near) {
            all_.column.push_back(q);
            all_.cost.push_back(cost[q]);
        }
    }
    all_.begin.push_back(static_cast<int>(all_.column.size()));
}

void NearArcs::gather(const Problem& problem, std::vector<int>& where,
                      ArcRows& arcs) const {
    const int n = problem.n_columns();
    where.assign(static_cast<std::size_t>(n_columns_), -1);
    for (int j = 0; j < n; ++j) where[problem.columns[j]] = j;
    std::size_t room = 0;
    for (const int p : problem.rows)
        room += static_cast<std::size_t>(
            padded(all_.begin[p + 1] - all_.begin[p] + 1));
    arcs.column.resize(room);
    arcs.cost.resize(room);
    arcs.begin.clear();
    int at = 0;
    for (const int p : problem.rows) {
        arcs.begin.push_back(at);
        // Written in any case, and kept if the bin is a column: no branch.
        for (int k = all_.begin[p]; k < all_.begin[p + 1]; ++k) {
            const int j = where[all_.column[k]];
            arcs.column[at] = j;
            arcs.cost[at] = all_.cost[k];
            at += j >= 0;
        }
        const int end = arcs.begin.back() + padded(at - arcs.begin.back() + 1);
        std::fill(arcs.column.begin() + at, arcs.column.begin() + end, n);
        std::fill(arcs.cost.begin() + at, arcs.cost.begin() + end, kHuge);
        arcs.cost[at] = threshold_;
        at = end;
    }
    arcs.begin.push_back(at);
}

}  // namespace groundmetric
