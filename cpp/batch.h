// Many pairs of histograms that share one ground metric.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "certificate.h"
#include "cost.h"
#include "masses.h"
#include "parallel.h"
#include "tree.h"
#include "tree_store.h"
#include "turn.h"

namespace groundmetric {

// The optimal trees of some pairs of a batch, or those at which they stopped.
struct KeptTrees {
    bool reduced = true;               // common mass stays where it is
    std::vector<std::int64_t> pairs;   // increasing
    std::vector<std::uint8_t> solved;  // or stopped
    std::vector<Node> nodes;           // orders and parents, pair by pair
};

// A list of pairs (x_i, y_j) that is solved again and again while the metric
// changes. Between solves it keeps the optimal tree of each pair that was
// solved: the preorder and the parents, 4 bytes a node; flows follow from the
// margins. Calls from several threads take turns. A solve that fails, for want
// of memory say, leaves the pairs that it has solved, and the others as they
// were, or without a tree.
class Batch {
public:
    // Throws if a pair names a histogram that is not there.
    Batch(std::shared_ptr<const Masses> x, std::shared_ptr<const Masses> y,
          const std::int64_t* pairs, std::int64_t n_pairs, const Poll& poll);

    // Solves the pairs chosen[0..n), sets values and pivot counts, and returns
    // the number of this solve. Each pair starts from the cheaper of its kept
    // tree and the greedy start, whatever happens to the other pairs: results
    // do not depend on the number of threads.
    std::int64_t solve(const CostMatrix& matrix, const std::int64_t* chosen,
                       std::int64_t n, const Threading& threading,
                       double* values, std::int32_t* n_pivots);

    // The same, but a pair stops when its distance is proved to be above its
    // ceiling; its value is then minus the proved lower bound, and it does not
    // count as solved.
    std::int64_t solve_below(const CostMatrix& matrix,
                             const std::int64_t* chosen, std::int64_t n,
                             const double* ceilings, const Threading& threading,
                             double* values, std::int32_t* n_pivots);

    // sums (d x d) = sum_k weights[k] * optimal plan of pair chosen[k]: with
    // weights omega, the subgradient of Algorithm 1. Plans are never formed.
    // Throws if a pair was not last solved by solve `number`, or not at all if
    // `number` is 0.
    void plan_sum(std::int64_t number, const std::int64_t* chosen,
                  const double* weights, std::int64_t n, const Poll& poll,
                  double* sums) const;

    // f (n x d): 1-Lipschitz functions from the kept trees of pairs (r, c);
    // f'(r - c) is the distance if the tree is optimal for `matrix`.
    void lipschitz(const CostMatrix& matrix, const std::int64_t* chosen,
                   std::int64_t n, const Threading& threading, double* f) const;

    // Lower bounds of distances: functions + best[k] * d, of any kind, is
    // raised on the bins of pair chosen[k]. Zero where best[k] is negative.
    void bounds(const CostMatrix& matrix, const std::int64_t* chosen,
                std::int64_t n, const double* functions,
                const std::int32_t* best, const Threading& threading,
                double* bounds) const;

    // The certificate of a pair; `matrix` is the one of solve `number`.
    Certificate certificate(std::int64_t number, const CostMatrix& matrix,
                            std::int64_t pair, const Poll& poll) const;

    std::int64_t size() const {
        return static_cast<std::int64_t>(pairs_.size());
    }
    int n_bins() const { return x_->n_bins(); }
    // Rows of x and of y, pair by pair.
    void write_pairs(std::int64_t* pairs) const;

    // The trees kept, and what to go on from: a batch of the same pairs that is
    // given them solves as this one would. Throws if they are not feasible
    // trees of these pairs.
    KeptTrees trees(const Poll& poll) const;
    void set_trees(const KeptTrees& trees, const Poll& poll);

    // Bytes kept, histograms excluded.
    std::int64_t n_bytes(const Poll& poll) const;

private:
    struct Pair {
        std::int32_t i, j;
    };
    // `solved` is the number of the last solve; 0 if there is no tree,
    // kUnfinished if there is one, feasible but perhaps not optimal.
    struct Kept {
        Node* nodes = nullptr;  // order, then parents
        std::int64_t solved = 0;
    };
    static constexpr std::int64_t kUnfinished = -1;

    const Mass* left(std::int64_t pair) const {
        return x_->row(pairs_[pair].i);
    }
    const Mass* right(std::int64_t pair) const {
        return y_->row(pairs_[pair].j);
    }
    void require_solved(std::int64_t pair, std::int64_t number) const;
    // Forgets all trees.
    void clear(bool reduced) noexcept;
    // Loads the pair's margins and, if it has one, its tree and flows.
    bool restore(std::int64_t pair, Problem& problem, SpanningTree& tree) const;
    // Copies the tree to `kept`, whose pair it is of, and to the store if it
    // has no room there yet.
    static void keep(const SpanningTree& tree, int n_nodes, std::int64_t solved,
                     TreeStore& store, Kept& kept);

    std::shared_ptr<const Masses> x_, y_;
    std::vector<Pair> pairs_;
    bool reduced_ = true;
    std::vector<Kept> kept_;  // of each pair
    std::unique_ptr<TreeStore> store_ = std::make_unique<TreeStore>();
    std::int64_t n_solves_ = 0;
    mutable Turnstile turnstile_;
};

}  // namespace groundmetric
