#include "sparse/sparse_masses.h"

#include <algorithm>

namespace groundmetric {

SparseMasses::SparseMasses(const double* values, const std::int32_t* bins,
                           const std::int64_t* starts, std::int64_t n, int d,
                           double total)
    : n_bins_(d),
      bins_(bins, bins + starts[n]),
      starts_(starts, starts + n + 1) {
    units_.reserve(bins_.size());
    for (std::int64_t i = 0; i < n; ++i) {
        const int size = static_cast<int>(starts[i + 1] - starts[i]);
        const Masses row(values + starts[i], 1, size, total);
        units_.insert(units_.end(), row.row(0), row.row(0) + size);
        if (i > 0) continue;
        unit_ = row.unit();
        sum_ = 0;
        for (const Mass mass : units_) sum_ += mass;
    }
}

void set_margins(Problem& problem, const Support& r, const Support& c,
                 bool reduced) {
    problem.rows.clear();
    problem.columns.clear();
    problem.supply.clear();
    problem.demand.clear();
    const auto send = [&](int p, Mass mass) {
        if (mass <= 0) return;
        problem.rows.push_back(p);
        problem.supply.push_back(mass);
    };
    const auto receive = [&](int q, Mass mass) {
        if (mass <= 0) return;
        problem.columns.push_back(q);
        problem.demand.push_back(mass);
    };
    int q = 0;
    for (int p = 0; p < r.size; ++p) {
        for (; q < c.size && c.bins[q] < r.bins[p]; ++q)
            receive(q, c.masses[q]);
        const bool is_common = q < c.size && c.bins[q] == r.bins[p];
        const Mass stays =
            reduced && is_common ? std::min(r.masses[p], c.masses[q]) : Mass{0};
        send(p, r.masses[p] - stays);
        if (is_common) {
            receive(q, c.masses[q] - stays);
            ++q;
        }
    }
    for (; q < c.size; ++q) receive(q, c.masses[q]);
}

}  // namespace groundmetric
