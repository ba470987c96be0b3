// Pairs of histograms, and the optimal tree of each one that has been solved.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.h"
#include "batch/tree_store.h"
#include "transport/problem.h"
#include "transport/simplex.h"
#include "transport/tree.h"

namespace groundmetric {

// Of a tree it keeps the preorder and the parents, 4 bytes per node; flows
// follow from the margins.
class KeptPairs {
public:
    // Rows i of n_x and j of n_y, pair by pair. Throws if there is no such row.
    KeptPairs(const std::int64_t* pairs, std::int64_t n_pairs, std::int64_t n_x,
              std::int64_t n_y, const Poll& poll);

    std::int64_t size() const {
        return static_cast<std::int64_t>(pairs_.size());
    }
    std::int32_t left(std::int64_t pair) const { return pairs_[pair].i; }
    std::int32_t right(std::int64_t pair) const { return pairs_[pair].j; }
    // As given.
    void write(std::int64_t* pairs) const;

    // Sets the tree of a pair whose margins are set, if it has one.
    bool restore(std::int64_t pair, const Problem& problem,
                 SpanningTree& tree) const;
    // Keeps the tree that solve `number`, above 0, has found. Several threads
    // may keep those of different pairs.
    void keep(std::int64_t pair, const TransportSimplex& simplex,
              std::int64_t number);
    // Throws if a pair was last solved by another solve.
    void require_solved(std::int64_t pair, std::int64_t number) const;
    // Drops all trees.
    void clear() noexcept;

    std::size_t n_bytes() const;

private:
    struct Pair {
        std::int32_t i, j;
    };
    // `solved` is the number of the last solve, 0 if there is none.
    struct Kept {
        Node* nodes = nullptr;  // order, then parents
        std::int64_t solved = 0;
    };

    std::vector<Pair> pairs_;
    std::vector<Kept> kept_;  // of each pair
    TreeStore store_;
};

}  // namespace groundmetric
