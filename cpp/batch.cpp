#include "batch.h"

#include <algorithm>
#include <cassert>
#include <stdexcept>
#include <string>

#include "kernels.h"
#include "simplex.h"

namespace groundmetric {
namespace {

// Pairs handed to a thread at a time.
constexpr std::int64_t kChunk = 8;
// Pairs between two polls where each takes next to no time.
constexpr std::int64_t kBlock = 65536;

std::vector<TransportSimplex> workspaces(std::int64_t n_pairs, int n_threads) {
    return std::vector<TransportSimplex>(
        static_cast<std::size_t>(n_workers(n_pairs, kChunk, n_threads)));
}

}  // namespace

Batch::Batch(std::shared_ptr<const Masses> x, std::shared_ptr<const Masses> y,
             const std::int64_t* pairs, std::int64_t n_pairs, const Poll& poll)
    : x_(std::move(x)),
      y_(std::move(y)),
      pairs_(static_cast<std::size_t>(n_pairs)),
      kept_(static_cast<std::size_t>(n_pairs)) {
    const Body body = [&](std::int64_t block, int, Pulse&) {
        const std::int64_t begin = block * kBlock;
        const std::int64_t end = std::min(n_pairs, begin + kBlock);
        for (std::int64_t k = begin; k < end; ++k) {
            const std::int64_t i = pairs[2 * k], j = pairs[2 * k + 1];
            if (i < 0 || i >= x_->size() || j < 0 || j >= y_->size())
                throw std::invalid_argument(
                    "pairs[" + std::to_string(k) + "] is (" +
                    std::to_string(i) + ", " + std::to_string(j) +
                    "), but there are " + std::to_string(x_->size()) + " and " +
                    std::to_string(y_->size()) + " histograms.");
            pairs_[k] = {static_cast<std::int32_t>(i),
                         static_cast<std::int32_t>(j)};
        }
    };
    parallel_for((n_pairs + kBlock - 1) / kBlock, 1, 1, poll, body);
}

void Batch::write_pairs(std::int64_t* pairs) const {
    for (const Pair& pair : pairs_) {
        *pairs++ = pair.i;
        *pairs++ = pair.j;
    }
}

void Batch::clear(bool reduced) noexcept {
    reduced_ = reduced;
    std::fill(kept_.begin(), kept_.end(), Kept{});
    store_->clear();
}

bool Batch::restore(std::int64_t pair, Problem& problem,
                    SpanningTree& tree) const {
    problem.set_margins(left(pair), right(pair), x_->n_bins(), reduced_);
    if (kept_[pair].solved == 0) return false;
    const int n = problem.n_nodes();
    tree.resize(problem.n_rows(), n);
    if (n == 0) return true;
    const Node* nodes = kept_[pair].nodes;
    tree.restore(nodes, nodes + n);
    tree.set_flow(problem);
    assert(tree.is_strongly_feasible());
    return true;
}

// Of a problem without nodes there is nothing to keep, and `tree` is another's.
void Batch::keep(const SpanningTree& tree, int n_nodes, std::int64_t solved,
                 TreeStore& store, Kept& kept) {
    if (n_nodes > 0 && kept.nodes == nullptr)
        kept.nodes = store.allocate(2 * static_cast<std::size_t>(n_nodes));
    Node *order = kept.nodes, *parents = kept.nodes + n_nodes;
    for (int k = 0; k < n_nodes; ++k) {
        order[k] = tree.order[k];
        parents[k] = tree.parent[tree.order[k]];
    }
    kept.solved = solved;
}

std::int64_t Batch::solve(const CostMatrix& matrix, const std::int64_t* chosen,
                          std::int64_t n, const Threading& threading,
                          double* values, std::int32_t* n_pivots) {
    return solve_below(matrix, chosen, n, nullptr, threading, values, n_pivots);
}

std::int64_t Batch::solve_below(const CostMatrix& matrix,
                                const std::int64_t* chosen, std::int64_t n,
                                const double* ceilings,
                                const Threading& threading, double* values,
                                std::int32_t* n_pivots) {
    const Turn turn(turnstile_, threading.poll);
    const bool reduced =
        matrix.is_quasimetric(threading.n_threads, threading.poll);
    std::vector<TransportSimplex> simplexes =
        workspaces(n, threading.n_threads);
    if (reduced != reduced_) clear(reduced);
    ++n_solves_;
    const Body body = [&](std::int64_t k, int worker, Pulse& pulse) {
        TransportSimplex& simplex = simplexes[worker];
        const bool kept = restore(chosen[k], simplex.problem, simplex.tree);
        simplex.problem.set_costs(matrix);
        simplex.ceiling =
            ceilings == nullptr
                ? kHuge
                : std::min(kHuge, ceilings[k] / matrix.scale() / x_->unit());
        if (kept)
            simplex.solve_again(pulse);
        else
            simplex.solve(pulse);
        const bool above = simplex.is_above_ceiling;
        values[k] = matrix.unscaled(above ? -simplex.lower : simplex.cost(),
                                    x_->unit());
        n_pivots[k] = simplex.n_pivots;
        keep(simplex.tree, simplex.problem.n_nodes(),
             above ? kUnfinished : n_solves_, *store_, kept_[chosen[k]]);
    };
    parallel_for(n, threading.n_threads, kChunk, threading.poll, body);
    return n_solves_;
}

void Batch::plan_sum(std::int64_t number, const std::int64_t* chosen,
                     const double* weights, std::int64_t n, const Poll& poll,
                     double* sums) const {
    const Turn turn(turnstile_, poll);
    for (std::int64_t k = 0; k < n; ++k) require_solved(chosen[k], number);
    const int d = x_->n_bins();
    std::fill_n(sums, static_cast<std::size_t>(d) * d, 0.0);
    Problem problem;
    SpanningTree tree;
    // One thread: the order of summation is that of the pairs, always.
    const Body body = [&](std::int64_t k, int, Pulse&) {
        if (weights[k] == 0.0) return;
        restore(chosen[k], problem, tree);
        const double weight = weights[k] * x_->unit();
        const auto add = [&](int p, int q, Mass mass) {
            sums[p * static_cast<long>(d) + q] += weight * to_double(mass);
        };
        const Mass *r = left(chosen[k]), *c = right(chosen[k]);
        for (int p = 0; reduced_ && p < d; ++p) add(p, p, std::min(r[p], c[p]));
        for_each_arc(problem, tree, add);
    };
    parallel_for(n, 1, kChunk, poll, body);
}

Certificate Batch::certificate(std::int64_t number, const CostMatrix& matrix,
                               std::int64_t pair, const Poll& poll) const {
    const Turn turn(turnstile_, poll);
    require_solved(pair, number);
    TransportSimplex simplex;
    restore(pair, simplex.problem, simplex.tree);
    simplex.problem.set_costs(matrix);
    Shared shared{poll};
    Pulse pulse(shared, true);
    simplex.solve_again(pulse);
    return certify(simplex, left(pair), right(pair), x_->unit(), matrix,
                   reduced_);
}

void Batch::bounds(const CostMatrix& matrix, const std::int64_t* chosen,
                   std::int64_t n, const double* functions,
                   const std::int32_t* best, const Threading& threading,
                   double* bounds) const {
    const Turn turn(turnstile_, threading.poll);
    const int d = x_->n_bins();
    std::vector<TransportSimplex> simplexes =
        workspaces(n, threading.n_threads);
    const Body body = [&](std::int64_t k, int worker, Pulse&) {
        bounds[k] = 0.0;
        if (best[k] < 0) return;
        TransportSimplex& simplex = simplexes[worker];
        Problem& problem = simplex.problem;
        problem.set_margins(left(chosen[k]), right(chosen[k]), d, reduced_);
        problem.set_costs(matrix);
        const double* f = functions + static_cast<long>(best[k]) * d;
        double gap = 0.0;  // f'(r - c), and which end is up
        for (int i = 0; i < problem.n_rows(); ++i)
            gap += f[problem.rows[i]] * to_double(problem.supply[i]);
        for (int j = 0; j < problem.n_columns(); ++j)
            gap -= f[problem.columns[j]] * to_double(problem.demand[j]);
        const double sign = gap > 0.0 ? 1.0 : -1.0;
        bounds[k] = matrix.unscaled(simplex.bound_by(f, sign / matrix.scale()),
                                    x_->unit());
    };
    parallel_for(n, threading.n_threads, kChunk, threading.poll, body);
}

void Batch::lipschitz(const CostMatrix& matrix, const std::int64_t* chosen,
                      std::int64_t n, const Threading& threading,
                      double* f) const {
    const Turn turn(turnstile_, threading.poll);
    std::vector<TransportSimplex> simplexes =
        workspaces(n, threading.n_threads);
    const Body body = [&](std::int64_t k, int worker, Pulse&) {
        TransportSimplex& simplex = simplexes[worker];
        if (!restore(chosen[k], simplex.problem, simplex.tree))
            require_solved(chosen[k], 0);  // which it is not: throws
        simplex.problem.set_costs(matrix);
        simplex.set_potentials();
        const std::vector<double> values = lipschitz_potential(simplex, matrix);
        std::transform(values.begin(), values.end(), f + k * x_->n_bins(),
                       [&](double value) { return value * matrix.scale(); });
    };
    parallel_for(n, threading.n_threads, kChunk, threading.poll, body);
}

void Batch::require_solved(std::int64_t pair, std::int64_t number) const {
    const std::int64_t solved = kept_[pair].solved;
    if (solved <= 0 || (number != 0 && solved != number))
        throw std::runtime_error(
            "The batch has solved these pairs again since, some of them or for "
            "another kind of cost, and keeps only their newest plans; use the "
            "newest solution.");
}

KeptTrees Batch::trees(const Poll& poll) const {
    const Turn turn(turnstile_, poll);
    KeptTrees trees{reduced_, {}, {}, {}};
    Problem problem;
    const Body body = [&](std::int64_t pair, int, Pulse&) {
        const Kept& kept = kept_[pair];
        if (kept.solved == 0) return;
        problem.set_margins(left(pair), right(pair), x_->n_bins(), reduced_);
        trees.pairs.push_back(pair);
        trees.solved.push_back(kept.solved != kUnfinished);
        trees.nodes.insert(trees.nodes.end(), kept.nodes,
                           kept.nodes + 2 * problem.n_nodes());
    };
    parallel_for(size(), 1, kChunk, poll, body);
    return trees;
}

void Batch::set_trees(const KeptTrees& trees, const Poll& poll) {
    const Turn turn(turnstile_, poll);
    const auto require = [](bool is_right) {
        if (!is_right)
            throw std::invalid_argument("These are not trees of these pairs.");
    };
    require(trees.solved.size() == trees.pairs.size());
    std::vector<Kept> kept(pairs_.size());
    auto store = std::make_unique<TreeStore>();
    const std::int64_t number = n_solves_ + 1;
    Problem problem;
    SpanningTree tree;
    std::size_t at = 0;
    const Body body = [&](std::int64_t k, int, Pulse&) {
        const std::int64_t pair = trees.pairs[k];
        require(pair >= 0 && pair < size() && kept[pair].solved == 0);
        problem.set_margins(left(pair), right(pair), x_->n_bins(),
                            trees.reduced);
        const int n = problem.n_nodes();
        const Node* nodes = trees.nodes.data() + at;
        at += 2 * static_cast<std::size_t>(n);
        require(at <= trees.nodes.size());
        if (n > 0) {
            require(is_tree(nodes, nodes + n, problem.n_rows(), n));
            tree.resize(problem.n_rows(), n);
            tree.restore(nodes, nodes + n);
            tree.set_flow(problem);
            require(tree.is_strongly_feasible());
        }
        keep(tree, n, trees.solved[k] != 0 ? number : kUnfinished, *store,
             kept[pair]);
    };
    parallel_for(static_cast<std::int64_t>(trees.pairs.size()), 1, kChunk, poll,
                 body);
    require(at == trees.nodes.size());
    reduced_ = trees.reduced;
    kept_.swap(kept);
    store_.swap(store);
    n_solves_ = number;
}

std::int64_t Batch::n_bytes(const Poll& poll) const {
    const Turn turn(turnstile_, poll);
    return static_cast<std::int64_t>(
        sizeof(*this) + pairs_.capacity() * sizeof(Pair) +
        kept_.capacity() * sizeof(Kept) + store_->n_bytes());
}

}  // namespace groundmetric
