#include "batch.h"

#include <algorithm>
#include <cassert>
#include <stdexcept>

#include "kernels.h"
#include "simplex.h"

namespace groundmetric {
namespace {

// Pairs handed to a thread at a time.
constexpr std::int64_t kChunk = 8;

std::vector<TransportSimplex> workspaces(std::int64_t n_pairs, int n_threads) {
    return std::vector<TransportSimplex>(
        static_cast<std::size_t>(n_workers(n_pairs, kChunk, n_threads)));
}

}  // namespace

Batch::Batch(std::shared_ptr<const Masses> x, std::shared_ptr<const Masses> y,
             const std::int64_t* pairs, std::int64_t n_pairs)
    : x_(std::move(x)), y_(std::move(y)) {
    pairs_.reserve(static_cast<std::size_t>(n_pairs));
    for (std::int64_t k = 0; k < n_pairs; ++k)
        pairs_.push_back({static_cast<std::int32_t>(pairs[2 * k]),
                          static_cast<std::int32_t>(pairs[2 * k + 1])});
    lay_out(true);
}

void Batch::lay_out(bool reduced) {
    reduced_ = reduced;
    begin_.assign(1, 0);
    begin_.reserve(pairs_.size() + 1);
    const int d = x_->n_bins();
    for (std::size_t k = 0; k < pairs_.size(); ++k) {
        const Mass* r = left(static_cast<std::int64_t>(k));
        const Mass* c = right(static_cast<std::int64_t>(k));
        int n_nodes = 0;
        for (int p = 0; p < d; ++p)
            n_nodes += reduced ? r[p] != c[p] : (r[p] > 0) + (c[p] > 0);
        begin_.push_back(begin_.back() + 2 * n_nodes);
    }
    kept_.assign(static_cast<std::size_t>(begin_.back()), Node{0});
    solved_.assign(pairs_.size(), 0);
}

bool Batch::restore(std::int64_t pair, Problem& problem,
                    SpanningTree& tree) const {
    problem.set_margins(left(pair), right(pair), x_->n_bins(), reduced_);
    if (solved_[pair] == 0) return false;
    const int n = problem.n_nodes();
    tree.resize(problem.n_rows(), n);
    if (n == 0) return true;
    const Node* kept = kept_.data() + begin_[pair];
    tree.restore(kept, kept + n);
    tree.set_flow(problem);
    assert(tree.is_strongly_feasible());
    return true;
}

void Batch::keep(std::int64_t pair, const SpanningTree& tree) {
    Node* order = kept_.data() + begin_[pair];
    Node* parents = order + tree.n_nodes();
    for (int k = 0; k < tree.n_nodes(); ++k) {
        order[k] = tree.order[k];
        parents[k] = tree.parent[tree.order[k]];
    }
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
    const Turn turn(*this, threading.poll);
    const bool reduced =
        matrix.is_quasimetric(threading.n_threads, threading.poll);
    if (reduced != reduced_) lay_out(reduced);
    ++n_solves_;
    std::vector<TransportSimplex> simplexes =
        workspaces(n, threading.n_threads);
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
        if (simplex.problem.n_nodes() > 0) keep(chosen[k], simplex.tree);
        solved_[chosen[k]] = above ? kUnfinished : n_solves_;
    };
    parallel_for(n, threading.n_threads, kChunk, threading.poll, body);
    return n_solves_;
}

void Batch::plan_sum(std::int64_t number, const std::int64_t* chosen,
                     const double* weights, std::int64_t n, const Poll& poll,
                     double* sums) const {
    const Turn turn(*this, poll);
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
    const Turn turn(*this, poll);
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
    const Turn turn(*this, threading.poll);
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
    const Turn turn(*this, threading.poll);
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
    if (solved_[pair] <= 0 || (number != 0 && solved_[pair] != number))
        throw std::runtime_error(
            "The batch has solved these pairs again since, some of them or for "
            "another kind of cost, and keeps only their newest plans; use the "
            "newest solution.");
}

KeptTrees Batch::trees(const Poll& poll) const {
    const Turn turn(*this, poll);
    KeptTrees trees{reduced_, {}, {}, {}};
    for (std::int64_t pair = 0; pair < size(); ++pair) {
        if (solved_[pair] == 0) continue;
        trees.pairs.push_back(pair);
        trees.solved.push_back(solved_[pair] != kUnfinished);
        trees.nodes.insert(trees.nodes.end(), kept_.begin() + begin_[pair],
                           kept_.begin() + begin_[pair + 1]);
    }
    return trees;
}

void Batch::set_trees(const KeptTrees& trees, const Poll& poll) {
    const Turn turn(*this, poll);
    const auto require = [](bool is_right) {
        if (!is_right)
            throw std::invalid_argument("These are not trees of these pairs.");
    };
    lay_out(trees.reduced);
    ++n_solves_;
    Problem problem;
    SpanningTree tree;
    std::size_t at = 0;
    require(trees.solved.size() == trees.pairs.size());
    for (std::size_t k = 0; k < trees.pairs.size(); ++k) {
        const std::int64_t pair = trees.pairs[k];
        require(pair >= 0 && pair < size() && solved_[pair] == 0);
        problem.set_margins(left(pair), right(pair), x_->n_bins(), reduced_);
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
            keep(pair, tree);
        }
        solved_[pair] = trees.solved[k] != 0 ? n_solves_ : kUnfinished;
    }
    require(at == trees.nodes.size());
}

std::int64_t Batch::n_bytes(const Poll& poll) const {
    const Turn turn(*this, poll);
    return static_cast<std::int64_t>(sizeof(*this) +
                                     pairs_.capacity() * sizeof(Pair) +
                                     begin_.capacity() * sizeof(std::int64_t) +
                                     kept_.capacity() * sizeof(Node) +
                                     solved_.capacity() * sizeof(std::int64_t));
}

Batch::Turn::Turn(const Batch& batch, const Poll& poll) : batch_(batch) {
    const auto self = std::this_thread::get_id();
    if (batch.holder_ == self)
        throw std::runtime_error(
            "This thread is in the middle of another call of the same batch.");
    while (!batch.mutex_.try_lock_for(std::chrono::milliseconds(50)))
        if (!poll(0)) throw Stopped();
    batch.holder_ = self;
}

Batch::Turn::~Turn() {
    batch_.holder_ = std::thread::id();
    batch_.mutex_.unlock();
}

}  // namespace groundmetric
