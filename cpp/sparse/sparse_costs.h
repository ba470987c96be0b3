// Costs between bins that are listed: those of a matrix, or of one of its
// blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "sparse/sparse_masses.h"
#include "transport/cost.h"
#include "transport/problem.h"

namespace groundmetric {

// Bins of x in rows, of y in columns. Row p of the matrix is that of bin
// rows[p], column q that of bin columns[q].
struct ListedCosts {
    const CostMatrix& matrix;
    std::vector<std::int32_t> row_of, column_of;  // of each bin
    double scale() const { return matrix.scale(); }
};

// Costs from a matrix, with the interface of PointCosts.
class SparseCosts {
public:
    explicit SparseCosts(const ListedCosts& costs) : costs_(&costs) {}
    void start(const Support& fixed) { fixed_ = fixed; }
    std::int64_t expect(const SparseMasses&, std::int64_t, std::int64_t end) {
        return end;
    }
    void set_costs(Problem& problem, const Support& other,
                   bool is_swapped) const {
        double* to = problem.make_costs();
        problem.forbidden = costs_->matrix.forbidden();
        for (const int p : problem.rows) {
            if (is_swapped)
                fill_column(problem, other.bins[p], to);
            else
                fill_row(problem, other, fixed_.bins[p], to);
            to += problem.stride;
        }
    }

private:
    // The costs from a bin of the fixed histogram.
    void fill_row(const Problem& problem, const Support& other,
                  std::int32_t bin, double* to) const {
        const double* from = costs_->matrix.row(costs_->row_of[bin]);
        for (int j = 0; j < problem.n_columns(); ++j)
            to[j] = from[costs_->column_of[other.bins[problem.columns[j]]]];
    }
    // The costs to a bin of the other.
    void fill_column(const Problem& problem, std::int32_t bin,
                     double* to) const {
        const int q = costs_->column_of[bin];
        for (int j = 0; j < problem.n_columns(); ++j)
            to[j] = costs_->matrix.row(
                costs_->row_of[fixed_.bins[problem.columns[j]]])[q];
    }

    const ListedCosts* costs_;
    Support fixed_{};
};

}  // namespace groundmetric
