#include "pairwise.h"

#include <vector>

namespace groundmetric {
namespace {

// Pairs handed to a thread at a time.
constexpr std::int64_t kChunk = 8;

}  // namespace

double PairSolver::solve(const Mass* r, const Mass* c, bool reduced,
                         Pulse& pulse) {
    if (hub_) {
        hub_->problem.set_margins(r, matrix_.n_rows(), c, matrix_.n_columns(),
                                  reduced);
        hub_->solve(pulse);
        effort.n_pivots += hub_->n_pivots;
        effort.n_priced += hub_->n_priced;
        const double cost = hub_->cost();
        if (hub_->is_accurate(cost)) {
            ++effort.n_by_hub;
            return cost;
        }
    }
    dense_.problem.set_margins(r, matrix_.n_rows(), c, matrix_.n_columns(),
                               reduced);
    dense_.problem.set_costs(matrix_);
    dense_.solve(pulse);
    effort.n_pivots += dense_.n_pivots;
    return dense_.cost();
}

Effort pairwise(const Masses& x, const Masses& y, const CostMatrix& matrix,
                const PairwiseOptions& options, const Threading& threading,
                double* distances) {
    const bool reduced =
        matrix.is_quasimetric(threading.n_threads, threading.poll);
    const std::optional<NearArcs> near =
        options.hub ? NearArcs::of(matrix) : std::nullopt;
    const std::int64_t n = y.size();
    std::vector<PairSolver> workers(
        static_cast<std::size_t>(
            n_workers(x.size() * n, kChunk, threading.n_threads)),
        PairSolver(matrix, near));
    const Body body = [&](std::int64_t k, int worker, Pulse& pulse) {
        const std::int64_t i = k / n, j = k % n;
        if (options.symmetric && j < i) return;
        const double cost =
            workers[worker].solve(x.row(i), y.row(j), reduced, pulse);
        distances[k] = matrix.unscaled(cost, x.unit());
        if (options.symmetric) distances[j * n + i] = distances[k];
    };
    parallel_for(x.size() * n, threading.n_threads, kChunk, threading.poll,
                 body);
    Effort total;
    for (const PairSolver& worker : workers) {
        total.n_pivots += worker.effort.n_pivots;
        total.n_by_hub += worker.effort.n_by_hub;
        total.n_priced += worker.effort.n_priced;
    }
    return total;
}

}  // namespace groundmetric
