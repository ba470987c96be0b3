#include "batch/kept_pairs.h"

#include <algorithm>
#include <cassert>
#include <stdexcept>
#include <string>

namespace groundmetric {
namespace {

// Pairs between two polls of a cheap loop.
constexpr std::int64_t kBlock = 65536;

}  // namespace

KeptPairs::KeptPairs(const std::int64_t* pairs, std::int64_t n_pairs,
                     std::int64_t n_x, std::int64_t n_y, const Poll& poll)
    : pairs_(static_cast<std::size_t>(n_pairs)),
      kept_(static_cast<std::size_t>(n_pairs)) {
    const Body body = [&](std::int64_t block, int, StopToken&) {
        const std::int64_t begin = block * kBlock;
        const std::int64_t end = std::min(n_pairs, begin + kBlock);
        for (std::int64_t k = begin; k < end; ++k) {
            const std::int64_t i = pairs[2 * k], j = pairs[2 * k + 1];
            if (i < 0 || i >= n_x || j < 0 || j >= n_y)
                throw std::invalid_argument(
                    "pairs[" + std::to_string(k) + "] is (" +
                    std::to_string(i) + ", " + std::to_string(j) +
                    "), but there are " + std::to_string(n_x) + " and " +
                    std::to_string(n_y) + " histograms.");
            pairs_[k] = {static_cast<std::int32_t>(i),
                         static_cast<std::int32_t>(j)};
        }
    };
    parallel_for((n_pairs + kBlock - 1) / kBlock, 1, 1, poll, body);
}

void KeptPairs::write(std::int64_t* pairs) const {
    for (const Pair& pair : pairs_) {
        *pairs++ = pair.i;
        *pairs++ = pair.j;
    }
}

bool KeptPairs::restore(std::int64_t pair, const Problem& problem,
                        SpanningTree& tree) const {
    if (kept_[pair].solved == 0) return false;
    tree.restore(problem, kept_[pair].nodes);
    assert(problem.n_nodes() == 0 || tree.is_strongly_feasible());
    return true;
}

// A problem without nodes has no tree: `simplex.tree` is that of another pair.
void KeptPairs::keep(std::int64_t pair, const TransportSimplex& simplex,
                     std::int64_t number) {
    Kept& kept = kept_[pair];
    if (simplex.problem.n_nodes() > 0) {
        const std::vector<Node> nodes = simplex.tree.nodes();
        if (kept.nodes == nullptr) kept.nodes = store_.allocate(nodes.size());
        std::copy(nodes.begin(), nodes.end(), kept.nodes);
    }
    kept.solved = number;
}

void KeptPairs::require_solved(std::int64_t pair, std::int64_t number) const {
    if (number <= 0 || kept_[pair].solved != number)
        throw std::runtime_error(
            "The batch has solved these pairs again since, at least some of "
            "them, and keeps only their newest plans; use the newest "
            "solution.");
}

void KeptPairs::clear() noexcept {
    std::fill(kept_.begin(), kept_.end(), Kept{});
    store_.clear();
}

std::size_t KeptPairs::n_bytes() const {
    return sizeof(*this) - sizeof(store_) + store_.n_bytes() +
           pairs_.capacity() * sizeof(Pair) + kept_.capacity() * sizeof(Kept);
}

}  // namespace groundmetric
