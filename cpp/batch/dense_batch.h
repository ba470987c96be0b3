// Many pairs of histograms that share one ground metric.
#pragma once

#include <cstdint>
#include <memory>

#include "base/call_lock.h"
#include "base/masses.h"
#include "base/parallel.h"
#include "batch/kept_pairs.h"
#include "batch/plans.h"
#include "transport/certificate.h"
#include "transport/cost.h"
#include "transport/tree.h"

namespace groundmetric {

// A list of pairs (x_i, y_j) to solve repeatedly while the metric changes.
// Between solves it keeps the optimal tree of each solved pair. Calls from
// several threads take turns. If a solve fails, for instance for lack of
// memory, the pairs it has solved stay solved; the others stay as they were, or
// lose their trees.
class DenseBatch {
public:
    // Throws if a pair names a histogram that does not exist.
    DenseBatch(std::shared_ptr<const Masses> x, std::shared_ptr<const Masses> y,
               const std::int64_t* pairs, std::int64_t n_pairs,
               const Poll& poll);

    // How a solve knows that common mass may stay where it is, if it does.
    enum class Proof { triangles, potentials, none };
    struct Solve {
        std::int64_t number;
        Proof proof;
    };
    // Solves the pairs chosen[0..n), sets values and pivot counts, and returns
    // the number of this solve. Each pair starts from the cheaper of its kept
    // tree and the greedy start, whatever happens to the other pairs: results
    // do not depend on the number of threads.
    Solve solve(const CostMatrix& matrix, const std::int64_t* chosen,
                std::int64_t n, const Threading& threading, double* values,
                std::int32_t* n_pivots);

    // sums (m x n) = sum_k weights[k] * optimal plan of pair chosen[k]: with
    // weights omega, the subgradient of Algorithm 1. Plans are never formed.
    // Throws if a pair was last solved by a solve other than `number`.
    void plan_sum(std::int64_t number, const std::int64_t* chosen,
                  const double* weights, std::int64_t n, const Poll& poll,
                  double* sums) const;

    // The plans themselves, under the same condition.
    Plans plans(std::int64_t number, const std::int64_t* chosen, std::int64_t n,
                const Poll& poll) const;

    // The certificate of a pair; `matrix` is the one of solve `number`.
    Certificate certificate(std::int64_t number, const CostMatrix& matrix,
                            std::int64_t pair, const Poll& poll) const;

    // Potentials of pairs on all bins, one after the other: u (n x the bins of
    // x) and v (n x the bins of y). `matrix` is the one of solve `number`.
    void potentials(std::int64_t number, const CostMatrix& matrix,
                    const std::int64_t* chosen, std::int64_t n,
                    const Threading& threading, double* u, double* v) const;

    std::int64_t size() const { return pairs_.size(); }
    // Bins of the histograms of x, and of y.
    int n_rows() const { return x_->n_bins(); }
    int n_columns() const { return y_->n_bins(); }
    // Rows of x and of y, pair by pair.
    void write_pairs(std::int64_t* pairs) const { pairs_.write(pairs); }

    // Bytes kept, excluding the histograms.
    std::int64_t n_bytes(const Poll& poll) const;

private:
    const Mass* left(std::int64_t pair) const {
        return x_->row(pairs_.left(pair));
    }
    const Mass* right(std::int64_t pair) const {
        return y_->row(pairs_.right(pair));
    }
    // Drops all trees.
    void clear(bool reduced) noexcept;
    // Loads the pair's margins and, if it has one, its tree and flows.
    bool restore(std::int64_t pair, Problem& problem, SpanningTree& tree) const;
    // Solves the pairs. If `prove`, returns whether the potentials of all prove
    // that common mass may stay.
    bool solve_each(const CostMatrix& matrix, const std::int64_t* chosen,
                    std::int64_t n, bool prove, const Threading& threading,
                    double* values, std::int32_t* n_pivots);

    std::shared_ptr<const Masses> x_, y_;
    KeptPairs pairs_;
    bool reduced_ = true;
    std::int64_t n_solves_ = 0;
    mutable CallMutex call_mutex_;
};

}  // namespace groundmetric
