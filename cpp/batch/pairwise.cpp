#include "batch/pairwise.h"

#include <vector>

#include "base/row_blocks.h"
#include "transport/certificate.h"

namespace groundmetric {

std::int64_t pairs_per_task(const CostMatrix& matrix) {
    const std::int64_t n_arcs =
        static_cast<std::int64_t>(matrix.n_rows()) * matrix.n_columns();
    return n_arcs < kWorthThreads ? 8 : 1;
}

std::optional<double> PairSolver::solve_by_hub(const Mass* r, const Mass* c,
                                               bool reduced, StopToken& stop) {
    hub_->problem.set_margins(r, matrix_.n_rows(), c, matrix_.n_columns(),
                              reduced);
    hub_->solve(stop);
    counts.n_pivots += hub_->n_pivots;
    counts.n_priced += hub_->n_priced;
    const double cost = hub_->cost();
    if (!hub_->is_accurate(cost)) return std::nullopt;
    ++counts.n_by_hub;
    return cost;
}

void PairSolver::solve_densely(const Mass* r, const Mass* c, bool reduced,
                               StopToken& stop) {
    dense_.problem.set_margins(r, matrix_.n_rows(), c, matrix_.n_columns(),
                               reduced);
    dense_.problem.set_costs(matrix_);
    dense_.solve(stop);
    counts.n_pivots += dense_.n_pivots;
}

double PairSolver::solve(const Mass* r, const Mass* c, Stay stay,
                         StopToken& stop) {
    if (hub_)
        if (const auto cost = solve_by_hub(r, c, stay == Stay::yes, stop))
            return *cost;
    solve_densely(r, c, stay != Stay::no, stop);
    if (stay == Stay::unknown && !proves_that_mass_stays(dense_, matrix_, stop))
        solve_densely(r, c, false, stop);
    return dense_.value();
}

double distance(const Mass* r, const Mass* c, const CostMatrix& matrix,
                const Poll& poll) {
    Shared shared{poll};
    StopToken stop(shared, true);
    return PairSolver(matrix, std::nullopt)
        .solve(r, c, matrix.may_mass_stay(1, 1, poll), stop);
}

SolveCounts pairwise(const Masses& x, const Masses& y, const CostMatrix& matrix,
                     const PairwiseOptions& options, const Threading& threading,
                     double* distances) {
    const std::optional<NearArcs> near = options.hub && !matrix.has_forbidden()
                                             ? NearArcs::of(matrix)
                                             : std::nullopt;
    const std::int64_t n = y.size();
    // The hub gives no potentials on the other bins, which a proof would need.
    const std::int64_t n_solves = near ? matrix.n_rows() : x.size() * n;
    const Stay stay =
        matrix.may_mass_stay(n_solves, threading.n_threads, threading.poll);
    const std::int64_t chunk = pairs_per_task(matrix);
    std::vector<PairSolver> workers(
        static_cast<std::size_t>(
            n_workers(x.size() * n, chunk, threading.n_threads)),
        PairSolver(matrix, near));
    const Body body = [&](std::int64_t k, int worker, StopToken& stop) {
        const std::int64_t i = k / n, j = k % n;
        if (options.symmetric && j < i) return;
        const double cost =
            workers[worker].solve(x.row(i), y.row(j), stay, stop);
        distances[k] = matrix.unscaled(cost, x.unit());
        if (options.symmetric) distances[j * n + i] = distances[k];
    };
    parallel_for(x.size() * n, threading.n_threads, chunk, threading.poll,
                 body);
    SolveCounts total;
    for (const PairSolver& worker : workers) total += worker.counts;
    return total;
}

}  // namespace groundmetric
