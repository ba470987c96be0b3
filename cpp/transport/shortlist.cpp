#include "transport/shortlist.h"

#include <algorithm>

#include "base/kernels.h"

namespace groundmetric {

void Shortlist::set(const Problem& problem,
                    const std::vector<SmoothedProblem::Share>& arcs) {
    n_.assign(problem.rows.size(), 0);
    entries_.resize(n_.size() * kMost);
    // The surest last, so that these stay if a row is full.
    for (std::size_t k = arcs.size(); k-- > 0;) {
        const auto& [row, column, bucket] = arcs[k];
        add(row, {problem.cost_row(row)[column], column});
    }
}

void Shortlist::add(int row, Entry entry) {
    entries_[static_cast<std::size_t>(row) * kMost + n_[row] % kMost] = entry;
    ++n_[row];
}

double Shortlist::cheapest(int row, const double* column_potential,
                           Entry& entry) const {
    const Entry* list = entries_.data() + static_cast<std::size_t>(row) * kMost;
    const int n = std::min(n_[row], kMost);
    double least = kHuge;
    for (int k = 0; k < n; ++k) {
        const double sum = list[k].cost + column_potential[list[k].column];
        if (sum < least) {
            least = sum;
            entry = list[k];
        }
    }
    return least;
}

}  // namespace groundmetric
