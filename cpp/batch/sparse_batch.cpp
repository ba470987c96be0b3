#include "batch/sparse_batch.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <type_traits>

namespace groundmetric {
namespace {

// Pairs per task of a thread.
constexpr std::int64_t kChunk = 8;

// What computes the costs of a pair.
template <class Source>
using CostsOf =
    std::conditional_t<std::is_same_v<Source, Points>, PointCosts, SparseCosts>;

// One thread's.
template <class Costs>
struct alignas(128) Worker {
    Costs costs;
    TransportSimplex simplex;
    std::int32_t row = -1;  // that costs has started with
};

}  // namespace

SparseBatch::SparseBatch(std::shared_ptr<const SparseMasses> x,
                         std::shared_ptr<const SparseMasses> y,
                         const std::int64_t* pairs, std::int64_t n_pairs,
                         bool reduced, const Poll& poll)
    : x_(std::move(x)),
      y_(std::move(y)),
      pairs_(pairs, n_pairs, x_->size(), y_->size(), poll),
      reduced_(reduced) {}

bool SparseBatch::restore(std::int64_t pair, Problem& problem,
                          SpanningTree& tree) const {
    set_margins(problem, left(pair), right(pair), reduced_);
    return pairs_.restore(pair, problem, tree);
}

template <class Source>
void SparseBatch::solve(std::int64_t number, const Source& source,
                        const std::int64_t* chosen, std::int64_t n,
                        const Threading& threading, double* values,
                        std::int32_t* n_pivots) {
    const CallLock lock(call_mutex_, threading.poll);
    using Costs = CostsOf<Source>;
    std::vector<Worker<Costs>> workers(
        static_cast<std::size_t>(n_workers(n, kChunk, threading.n_threads)),
        Worker<Costs>{Costs(source), {}});
    const int exponent = std::ilogb(x_->unit()) + std::ilogb(source.scale());
    const Body body = [&](std::int64_t k, int w, StopToken& stop) {
        Worker<Costs>& worker = workers[w];
        TransportSimplex& simplex = worker.simplex;
        const std::int64_t pair = chosen[k];
        const bool kept = restore(pair, simplex.problem, simplex.tree);
        if (worker.row != pairs_.left(pair)) worker.costs.start(left(pair));
        worker.row = pairs_.left(pair);
        worker.costs.set_costs(simplex.problem, right(pair), false);
        if (kept)
            simplex.solve_again(stop);
        else
            simplex.solve(stop);
        values[k] = std::ldexp(simplex.value(), exponent);
        n_pivots[k] = simplex.n_pivots;
        pairs_.keep(pair, simplex, number);
    };
    parallel_for(n, threading.n_threads, kChunk, threading.poll, body);
}

// The arcs of the tree, and the common mass if that stays, row by row.
void SparseBatch::add_plan(std::int64_t pair, const Problem& problem,
                           const SpanningTree& tree, Plans& plans) const {
    using Entry = std::tuple<std::int32_t, std::int32_t, Mass>;
    const Support r = left(pair), c = right(pair);
    std::vector<Entry> entries;
    for (int p = 0, q = 0; reduced_ && p < r.size; ++p) {
        while (q < c.size && c.bins[q] < r.bins[p]) ++q;
        if (q < c.size && c.bins[q] == r.bins[p])
            entries.emplace_back(r.bins[p], r.bins[p],
                                 std::min(r.masses[p], c.masses[q]));
    }
    for_each_arc(problem, tree, [&](int p, int q, Mass mass) {
        entries.emplace_back(r.bins[p], c.bins[q], mass);
    });
    std::sort(entries.begin(), entries.end());
    for (const auto& [row, column, mass] : entries)
        plans.add(row, column, to_double(mass) * x_->unit());
    plans.end();
}

Plans SparseBatch::plans(std::int64_t number, const std::int64_t* chosen,
                         std::int64_t n, const Poll& poll) const {
    const CallLock lock(call_mutex_, poll);
    for (std::int64_t k = 0; k < n; ++k)
        pairs_.require_solved(chosen[k], number);
    Plans plans;
    Problem problem;
    SpanningTree tree;
    const Body body = [&](std::int64_t k, int, StopToken&) {
        restore(chosen[k], problem, tree);
        add_plan(chosen[k], problem, tree, plans);
    };
    parallel_for(n, 1, kChunk, poll, body);  // one thread: in order
    return plans;
}

template <class Source>
SparsePotentials SparseBatch::potentials(std::int64_t number,
                                         const Source& source,
                                         std::int64_t pair,
                                         const Poll& poll) const {
    const CallLock lock(call_mutex_, poll);
    pairs_.require_solved(pair, number);
    TransportSimplex simplex;
    restore(pair, simplex.problem, simplex.tree);
    CostsOf<Source> costs(source);
    costs.start(left(pair));
    costs.set_costs(simplex.problem, right(pair), false);
    Shared shared{poll};
    StopToken stop(shared, true);
    simplex.solve_again(stop);
    const Problem& problem = simplex.problem;
    SparsePotentials found;
    for (int i = 0; i < problem.n_rows(); ++i) {
        found.rows.push_back(left(pair).bins[problem.rows[i]]);
        found.u.push_back(simplex.potential[i] * source.scale());
    }
    for (int j = 0; j < problem.n_columns(); ++j) {
        found.columns.push_back(right(pair).bins[problem.columns[j]]);
        found.v.push_back(-simplex.potential[problem.n_rows() + j] *
                          source.scale());
    }
    return found;
}

std::int64_t SparseBatch::n_bytes(const Poll& poll) const {
    const CallLock lock(call_mutex_, poll);
    return static_cast<std::int64_t>(sizeof(*this) - sizeof(pairs_) +
                                     pairs_.n_bytes());
}

template void SparseBatch::solve(std::int64_t, const Points&,
                                 const std::int64_t*, std::int64_t,
                                 const Threading&, double*, std::int32_t*);
template void SparseBatch::solve(std::int64_t, const ListedCosts&,
                                 const std::int64_t*, std::int64_t,
                                 const Threading&, double*, std::int32_t*);
template SparsePotentials SparseBatch::potentials(std::int64_t, const Points&,
                                                  std::int64_t,
                                                  const Poll&) const;
template SparsePotentials SparseBatch::potentials(std::int64_t,
                                                  const ListedCosts&,
                                                  std::int64_t,
                                                  const Poll&) const;

}  // namespace groundmetric
