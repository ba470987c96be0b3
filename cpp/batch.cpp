#include "batch.h"

#include <algorithm>

#include "simplex.h"

namespace groundmetric {
namespace {

// Pairs handed to a thread at a time.
constexpr std::int64_t kChunk = 8;

std::vector<TransportSimplex> workspaces(const Threading& threading) {
    return std::vector<TransportSimplex>(
        static_cast<std::size_t>(std::max(threading.n_threads, 1)));
}

}  // namespace

bool may_reduce(const CostMatrix& matrix, const Threading& threading) {
    return matrix.is_quasimetric(threading.n_threads, threading.poll);
}

void pairwise(const Masses& x, const Masses& y, const CostMatrix& matrix,
              bool symmetric, const Threading& threading, double* distances) {
    const bool reduced = may_reduce(matrix, threading);
    const std::int64_t n = y.size();
    std::vector<TransportSimplex> simplexes = workspaces(threading);
    const Body body = [&](std::int64_t k, int worker, Pulse& pulse) {
        const std::int64_t i = k / n, j = k % n;
        if (symmetric && j < i) return;
        TransportSimplex& simplex = simplexes[worker];
        simplex.problem.set_margins(x.row(i), y.row(j), x.n_bins(), reduced);
        simplex.problem.set_costs(matrix);
        simplex.solve(pulse);
        distances[k] = simplex.cost() * x.unit() * matrix.scale();
        if (symmetric) distances[j * n + i] = distances[k];
    };
    parallel_for(x.size() * n, threading.n_threads, kChunk, threading.poll,
                 body);
}

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
    const std::lock_guard lock(mutex_);
    const bool reduced = may_reduce(matrix, threading);
    if (reduced != reduced_) lay_out(reduced);
    ++n_solves_;
    std::vector<TransportSimplex> simplexes = workspaces(threading);
    const double factor = x_->unit() * matrix.scale();
    const Body body = [&](std::int64_t k, int worker, Pulse& pulse) {
        TransportSimplex& simplex = simplexes[worker];
        const bool kept = restore(chosen[k], simplex.problem, simplex.tree);
        simplex.problem.set_costs(matrix);
        if (kept)
            simplex.solve_again(pulse);
        else
            simplex.solve(pulse);
        values[k] = simplex.cost() * factor;
        n_pivots[k] = simplex.n_pivots;
        if (simplex.problem.n_nodes() > 0) keep(chosen[k], simplex.tree);
        solved_[chosen[k]] = n_solves_;
    };
    parallel_for(n, threading.n_threads, kChunk, threading.poll, body);
    return n_solves_;
}

void Batch::plan_sum(const std::int64_t* chosen, const double* weights,
                     std::int64_t n, const Poll& poll, double* sums) const {
    const std::lock_guard lock(mutex_);
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
            sums[p * static_cast<long>(d) + q] +=
                weight * static_cast<double>(mass);
        };
        const Mass *r = left(chosen[k]), *c = right(chosen[k]);
        for (int p = 0; reduced_ && p < d; ++p) add(p, p, std::min(r[p], c[p]));
        for_each_arc(problem, tree, add);
    };
    parallel_for(n, 1, kChunk, poll, body);
}

Certificate Batch::certificate(const CostMatrix& matrix,
                               std::int64_t pair) const {
    const std::lock_guard lock(mutex_);
    TransportSimplex simplex;
    restore(pair, simplex.problem, simplex.tree);
    simplex.problem.set_costs(matrix);
    Shared shared{[](std::int64_t) { return true; }};
    Pulse pulse(shared, true);
    simplex.solve_again(pulse);
    return certify(simplex, left(pair), right(pair), x_->unit(), matrix,
                   reduced_);
}

std::int64_t Batch::n_bytes() const {
    return static_cast<std::int64_t>(sizeof(*this) +
                                     pairs_.capacity() * sizeof(Pair) +
                                     begin_.capacity() * sizeof(std::int64_t) +
                                     kept_.capacity() * sizeof(Node) +
                                     solved_.capacity() * sizeof(std::int64_t));
}

}  // namespace groundmetric
