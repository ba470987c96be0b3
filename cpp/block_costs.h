// Costs between bins that are listed: those of a matrix, or of one of its
// blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "cost.h"
#include "problem.h"
#include "ragged.h"

namespace groundmetric {

// Bins of x in rows, of y in columns. Row p of the matrix is that of bin
// rows[p], column q that of bin columns[q].
struct BlockCosts {
    const CostMatrix& matrix;
    std::vector<std::int32_t> row_of, column_of;  // of each bin
    double scale() const { return matrix.scale(); }
};

// Costs from a matrix, with the interface of PointCosts.
class MatrixCosts {
public:
    explicit MatrixCosts(const BlockCosts& costs) : costs_(&costs) {}
    void start(const Support& fixed) { fixed_ = fixed; }
    std::int64_t expect(const RaggedMasses&, std::int64_t, std::int64_t end) {
        return end;
    }
    void set_costs(Problem& problem, const Support& other, bool) const {
        double* to = problem.make_costs();
        for (const int p : problem.rows) {
            const double* from =
                costs_->matrix.row(costs_->row_of[fixed_.bins[p]]);
            for (int j = 0; j < problem.n_columns(); ++j)
                to[j] = from[costs_->column_of[other.bins[problem.columns[j]]]];
            to += problem.stride;
        }
    }

private:
    const BlockCosts* costs_;
    Support fixed_{};
};

}  // namespace groundmetric
