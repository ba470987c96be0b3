// A smoothed plan, and what it says about the optimal one.
//
//     min <C, X> - eps H(X)   over X >= 0,  X 1 = supply,  X' 1 = demand
//
// has the solution X_ij = a_i K_ij b_j with K = exp(-C / eps). Sinkhorn's
// algorithm scales rows and columns in turn; a few rounds for each of a few
// eps, each a quarter of the one before, bring eps log b near the optimal
// potentials of the columns. When eps is divided by four, the new kernel is the
// fourth power of the old X: no exponential is needed, and single precision is
// enough. (Cuturi 2013; Schmitzer 2019 on scaling eps.)
//
// An arc that carries almost all the mass of one of its ends in X most probably
// is a leaf of the optimal tree: its share X_ij / min(supply_i, demand_j) is
// near 1. The start settles these arcs first.
#pragma once

#include <vector>

#include "base/parallel.h"
#include "transport/problem.h"

namespace groundmetric {

class SmoothedProblem {
public:
    struct Share {
        int row, column;
        int bucket;  // of its share
    };
    // Minus the potentials of the columns, padded: row i should use the column
    // with the smallest C_ij + offset_j.
    std::vector<double> offset;
    // Those with a share worth having, the largest first.
    std::vector<Share> shares;

    // Both are set for a problem that has rows and columns.
    void solve(const Problem& problem, StopToken& stop);

private:
    // What a block of rows finds.
    struct Block {
        std::vector<float> column_sum;
        std::vector<int> columns;  // scratch
        std::vector<float> column_shares;
        std::vector<Share> shares;
    };
    void set_margins(const Problem& problem);
    void set_offset(const Problem& problem);
    double spread_of_costs(const Problem& problem) const;
    void set_kernel(const Problem& problem, double eps, StopToken& stop);
    void balance(StopToken& stop);
    void absorb(double eps);
    void sharpen(StopToken& stop);
    void find_shares(StopToken& stop);
    float* row(int i) {
        return kernel_.data() + static_cast<std::size_t>(i) * stride_;
    }

    int n_rows_ = 0, n_columns_ = 0;
    int stride_ = 0;
    std::vector<float> kernel_;
    std::vector<float> supply_, demand_;  // the mean demand is 1
    std::vector<float> row_factor_, column_factor_;
    std::vector<double> least_;  // of each row
    std::vector<Block> blocks_;
};

}  // namespace groundmetric
