#include "batch/dense_batch.h"

#include <algorithm>
#include <vector>

#include "batch/pairwise.h"

namespace groundmetric {

DenseBatch::DenseBatch(std::shared_ptr<const Masses> x,
                       std::shared_ptr<const Masses> y,
                       const std::int64_t* pairs, std::int64_t n_pairs,
                       const Poll& poll)
    : x_(std::move(x)),
      y_(std::move(y)),
      pairs_(pairs, n_pairs, x_->size(), y_->size(), poll) {}

void DenseBatch::clear(bool reduced) noexcept {
    reduced_ = reduced;
    pairs_.clear();
}

bool DenseBatch::restore(std::int64_t pair, Problem& problem,
                         SpanningTree& tree) const {
    problem.set_margins(left(pair), x_->n_bins(), right(pair), y_->n_bins(),
                        reduced_);
    return pairs_.restore(pair, problem, tree);
}

bool DenseBatch::solve_each(const CostMatrix& matrix,
                            const std::int64_t* chosen, std::int64_t n,
                            bool prove, const Threading& threading,
                            double* values, std::int32_t* n_pivots) {
    const std::int64_t chunk = pairs_per_task(matrix);
    std::vector<TransportSimplex> simplexes(
        static_cast<std::size_t>(n_workers(n, chunk, threading.n_threads)));
    std::atomic<bool> is_proved{true};
    const Body body = [&](std::int64_t k, int worker, StopToken& stop) {
        TransportSimplex& simplex = simplexes[worker];
        const bool kept = restore(chosen[k], simplex.problem, simplex.tree);
        simplex.problem.set_costs(matrix);
        if (kept)
            simplex.solve_again(stop);
        else
            simplex.solve(stop);
        values[k] = matrix.unscaled(simplex.value(), x_->unit());
        n_pivots[k] = simplex.n_pivots;
        pairs_.keep(chosen[k], simplex, n_solves_);
        if (prove && !proves_that_mass_stays(simplex, matrix, stop))
            is_proved = false;
    };
    parallel_for(n, threading.n_threads, chunk, threading.poll, body);
    return is_proved;
}

DenseBatch::Solve DenseBatch::solve(const CostMatrix& matrix,
                                    const std::int64_t* chosen, std::int64_t n,
                                    const Threading& threading, double* values,
                                    std::int32_t* n_pivots) {
    const CallLock lock(call_mutex_, threading.poll);
    const Stay stay =
        matrix.may_mass_stay(n, threading.n_threads, threading.poll);
    // If unknown, as before: solving on all bins is always right.
    const bool reduced = stay == Stay::unknown ? reduced_ : stay == Stay::yes;
    const bool prove = reduced && stay == Stay::unknown;
    if (reduced != reduced_) clear(reduced);
    ++n_solves_;
    if (!solve_each(matrix, chosen, n, prove, threading, values, n_pivots)) {
        clear(false);
        solve_each(matrix, chosen, n, false, threading, values, n_pivots);
    }
    return {n_solves_, prove && reduced_ ? Proof::potentials
                       : reduced_        ? Proof::triangles
                                         : Proof::none};
}

void DenseBatch::plan_sum(std::int64_t number, const std::int64_t* chosen,
                          const double* weights, std::int64_t n,
                          const Poll& poll, double* sums) const {
    const CallLock lock(call_mutex_, poll);
    for (std::int64_t k = 0; k < n; ++k)
        pairs_.require_solved(chosen[k], number);
    const int m = x_->n_bins(), n_columns = y_->n_bins();
    std::fill_n(sums, static_cast<std::size_t>(m) * n_columns, 0.0);
    Problem problem;
    SpanningTree tree;
    // One thread: the order of summation is always that of the pairs.
    const Body body = [&](std::int64_t k, int, StopToken&) {
        if (weights[k] == 0.0) return;
        restore(chosen[k], problem, tree);
        add_plan(problem, tree, left(chosen[k]), right(chosen[k]), reduced_,
                 weights[k] * x_->unit(), n_columns, sums);
    };
    parallel_for(n, 1, 1, poll, body);
}

Plans DenseBatch::plans(std::int64_t number, const std::int64_t* chosen,
                        std::int64_t n, const Poll& poll) const {
    const CallLock lock(call_mutex_, poll);
    for (std::int64_t k = 0; k < n; ++k)
        pairs_.require_solved(chosen[k], number);
    Plans plans;
    Problem problem;
    SpanningTree tree;
    const Body body = [&](std::int64_t k, int, StopToken&) {
        restore(chosen[k], problem, tree);
        const Mass *r = left(chosen[k]), *c = right(chosen[k]);
        for (int p = 0; reduced_ && p < x_->n_bins(); ++p)
            if (const Mass stays = std::min(r[p], c[p]); stays > 0)
                plans.add(p, p, to_double(stays) * x_->unit());
        for_each_arc(problem, tree, [&](int p, int q, Mass mass) {
            plans.add(p, q, to_double(mass) * x_->unit());
        });
        plans.end();
    };
    parallel_for(n, 1, 1, poll, body);  // one thread: in order
    return plans;
}

Certificate DenseBatch::certificate(std::int64_t number,
                                    const CostMatrix& matrix, std::int64_t pair,
                                    const Poll& poll) const {
    const CallLock lock(call_mutex_, poll);
    pairs_.require_solved(pair, number);
    TransportSimplex simplex;
    restore(pair, simplex.problem, simplex.tree);
    simplex.problem.set_costs(matrix);
    Shared shared{poll};
    StopToken stop(shared, true);
    simplex.solve_again(stop);
    return certify(simplex, left(pair), right(pair), x_->unit(), matrix,
                   reduced_, stop);
}

void DenseBatch::potentials(std::int64_t number, const CostMatrix& matrix,
                            const std::int64_t* chosen, std::int64_t n,
                            const Threading& threading, double* u,
                            double* v) const {
    const CallLock lock(call_mutex_, threading.poll);
    for (std::int64_t k = 0; k < n; ++k)
        pairs_.require_solved(chosen[k], number);
    const std::int64_t chunk = pairs_per_task(matrix);
    std::vector<TransportSimplex> simplexes(
        static_cast<std::size_t>(n_workers(n, chunk, threading.n_threads)));
    const auto write = [&](const std::vector<double>& from, double* to) {
        std::transform(from.begin(), from.end(), to,
                       [&](double each) { return each * matrix.scale(); });
    };
    const Body body = [&](std::int64_t k, int worker, StopToken& stop) {
        TransportSimplex& simplex = simplexes[worker];
        restore(chosen[k], simplex.problem, simplex.tree);
        simplex.problem.set_costs(matrix);
        simplex.solve_again(stop);
        const Potentials found =
            groundmetric::potentials(simplex, matrix, reduced_, stop);
        write(found.u, u + k * matrix.n_rows());
        write(found.v, v + k * matrix.n_columns());
    };
    parallel_for(n, threading.n_threads, chunk, threading.poll, body);
}

std::int64_t DenseBatch::n_bytes(const Poll& poll) const {
    const CallLock lock(call_mutex_, poll);
    return static_cast<std::int64_t>(sizeof(*this) - sizeof(pairs_) +
                                     pairs_.n_bytes());
}

}  // namespace groundmetric
