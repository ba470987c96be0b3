// The transportation problem of one pair of histograms.
//
//     min <C, X>   over X >= 0,  X 1 = supply,  X' 1 = demand
//
// on the bins that matter. If common mass may stay where it is, these are the
// supports of (r - c)+ and (c - r)+, about half the bins each; if not, those of
// r and c. Costs are gathered into a contiguous matrix, its rows padded with
// kHuge, so that pricing streams through memory; if all bins matter, they are
// those of the cost matrix itself.
#pragma once

#include <vector>

#include "base/masses.h"
#include "transport/cost.h"

namespace groundmetric {

struct Problem {
    std::vector<int> rows;     // bins that send mass
    std::vector<int> columns;  // bins that receive mass
    std::vector<Mass> supply;
    std::vector<Mass> demand;
    int stride = 0;
    // Arcs that cost as much or more are forbidden; set with the costs.
    double forbidden = kHuge;

    // Sets the bins and their masses, from r of m bins and c of n. If
    // `reduced`, the bins are the same, and common mass stays.
    void set_margins(const Mass* r, int m, const Mass* c, int n, bool reduced);
    // Gathers the costs between these bins, or refers to those of the matrix.
    void set_costs(const CostMatrix& matrix);
    // Costs above the cap count as the cap, until costs are set again.
    void cap_costs(double cap);
    bool is_capped(int i, int j) const {
        const std::int64_t at = static_cast<std::int64_t>(i) * stride + j;
        return cost()[at] < full_cost()[at];
    }
    bool is_forbidden(int i, int j) const {
        const std::int64_t at = static_cast<std::int64_t>(i) * stride + j;
        return full_cost()[at] >= forbidden;
    }
    // Room for costs that the caller fills in, for rows and columns as they are
    // set: rows of `stride` entries, which is set, padded already.
    double* make_costs();

    int n_rows() const { return static_cast<int>(rows.size()); }
    int n_columns() const { return static_cast<int>(columns.size()); }
    int n_nodes() const { return n_rows() + n_columns(); }
    const double* cost() const {
        return !capped_.empty() ? capped_.data() : full_cost();
    }
    const double* cost_row(int i) const {
        return cost() + static_cast<std::int64_t>(i) * stride;
    }

private:
    const double* full_cost() const {
        return whole_ != nullptr ? whole_ : gathered_.data();
    }

    const double* whole_ = nullptr;
    std::vector<double> gathered_;  // rows.size() x stride
    std::vector<double> capped_;    // the same, or empty
};

}  // namespace groundmetric
