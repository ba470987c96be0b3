#include "problem.h"

#include <algorithm>

#include "kernels.h"

namespace groundmetric {

void Problem::set_margins(const Mass* r, const Mass* c, int d, bool reduced) {
    rows.clear();
    columns.clear();
    supply.clear();
    demand.clear();
    for (int p = 0; p < d; ++p) {
        const Mass stays = reduced ? std::min(r[p], c[p]) : 0;
        if (r[p] > stays) {
            rows.push_back(p);
            supply.push_back(r[p] - stays);
        }
        if (c[p] > stays) {
            columns.push_back(p);
            demand.push_back(c[p] - stays);
        }
    }
}

void Problem::set_costs(const CostMatrix& matrix) {
    const int m = n_rows(), n = n_columns();
    stride = padded(n);
    cost.resize(static_cast<std::size_t>(m) * stride);
    for (int i = 0; i < m; ++i) {
        const double* from = matrix.row(rows[i]);
        double* to = cost.data() + static_cast<long>(i) * stride;
        for (int j = 0; j < n; ++j) to[j] = from[columns[j]];
        std::fill(to + n, to + stride, kHuge);
    }
}

}  // namespace groundmetric
