// Pairs of sparse histograms, solved again and again while the costs between
// their bins change: a batch that knows only supports.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/call_lock.h"
#include "base/parallel.h"
#include "batch/kept_pairs.h"
#include "batch/plans.h"
#include "sparse/points.h"
#include "sparse/sparse_costs.h"
#include "sparse/sparse_masses.h"

namespace groundmetric {

// Potentials of the bins that take part in a solve, in units of the costs.
struct SparsePotentials {
    std::vector<std::int32_t> rows, columns;
    std::vector<double> u, v;
};

// Keeps the optimal tree of each solved pair, as DenseBatch does; calls from
// several threads take turns, too. Costs come in two kinds, Points and
// ListedCosts.
class SparseBatch {
public:
    // If `reduced`, all costs are metrics, and common mass stays. Throws if a
    // pair names a histogram that does not exist.
    SparseBatch(std::shared_ptr<const SparseMasses> x,
                std::shared_ptr<const SparseMasses> y,
                const std::int64_t* pairs, std::int64_t n_pairs, bool reduced,
                const Poll& poll);

    // The number of a new solve, which may take several calls of solve().
    std::int64_t begin() { return ++n_solves_; }
    // Solves the pairs chosen[0..n). Each starts from the cheaper of its kept
    // tree and the greedy start: results do not depend on the threads.
    template <class Source>
    void solve(std::int64_t number, const Source& source,
               const std::int64_t* chosen, std::int64_t n,
               const Threading& threading, double* values,
               std::int32_t* n_pivots);
    // Throws if a pair was last solved by a solve other than `number`.
    Plans plans(std::int64_t number, const std::int64_t* chosen, std::int64_t n,
                const Poll& poll) const;
    template <class Source>
    SparsePotentials potentials(std::int64_t number, const Source& source,
                                std::int64_t pair, const Poll& poll) const;

    std::int64_t size() const { return pairs_.size(); }
    const SparseMasses& x() const { return *x_; }
    Support left(std::int64_t pair) const { return x_->row(pairs_.left(pair)); }
    Support right(std::int64_t pair) const {
        return y_->row(pairs_.right(pair));
    }
    void write_pairs(std::int64_t* pairs) const { pairs_.write(pairs); }
    // Bytes kept, excluding the histograms.
    std::int64_t n_bytes(const Poll& poll) const;

private:
    bool restore(std::int64_t pair, Problem& problem, SpanningTree& tree) const;
    void add_plan(std::int64_t pair, const Problem& problem,
                  const SpanningTree& tree, Plans& plans) const;

    std::shared_ptr<const SparseMasses> x_, y_;
    KeptPairs pairs_;
    bool reduced_;
    std::atomic<std::int64_t> n_solves_{0};
    mutable CallMutex call_mutex_;
};

}  // namespace groundmetric
