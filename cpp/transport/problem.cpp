#include "transport/problem.h"

#include <algorithm>

#include "base/kernels.h"

namespace groundmetric {

void Problem::set_margins(const Mass* r, int m, const Mass* c, int n,
                          bool reduced) {
    const auto stays = [&](int p) {
        return reduced ? std::min(r[p], c[p]) : Mass{0};
    };
    rows.clear();
    columns.clear();
    supply.clear();
    demand.clear();
    for (int p = 0; p < m; ++p)
        if (const Mass leaves = r[p] - stays(p); leaves > 0) {
            rows.push_back(p);
            supply.push_back(leaves);
        }
    for (int q = 0; q < n; ++q)
        if (const Mass enters = c[q] - stays(q); enters > 0) {
            columns.push_back(q);
            demand.push_back(enters);
        }
}

void Problem::set_costs(const CostMatrix& matrix) {
    const int m = n_rows(), n = n_columns();
    if (m == matrix.n_rows() && n == matrix.n_columns()) {
        whole_ = matrix.row(0);
        stride = matrix.stride();
        forbidden = matrix.forbidden();
        capped_.clear();
        return;
    }
    double* to = make_costs();
    forbidden = matrix.forbidden();
    for (int i = 0; i < m; ++i, to += stride) {
        const double* from = matrix.row(rows[i]);
        for (int j = 0; j < n; ++j) to[j] = from[columns[j]];
    }
}

double* Problem::make_costs() {
    const int m = n_rows(), n = n_columns();
    whole_ = nullptr;
    forbidden = kHuge;
    capped_.clear();
    stride = padded(n);
    gathered_.resize(static_cast<std::size_t>(m) * stride);
    for (int i = 0; i < m; ++i) {
        double* row = gathered_.data() + static_cast<std::int64_t>(i) * stride;
        std::fill(row + n, row + stride, kHuge);
    }
    return gathered_.data();
}

void Problem::cap_costs(double cap) {
    const double* from = full_cost();
    const int m = n_rows(), n = n_columns();
    capped_.assign(from, from + static_cast<std::size_t>(m) * stride);
    for (int i = 0; i < m; ++i) {
        double* row = capped_.data() + static_cast<std::int64_t>(i) * stride;
        for (int j = 0; j < n; ++j) row[j] = std::min(row[j], cap);
    }
}

}  // namespace groundmetric
