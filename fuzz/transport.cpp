// One pair, any costs: its certificate, and the same distance from a batch,
// solved twice with different costs in between.
#include "batch/dense_batch.h"
#include "checks.h"
#include "input.h"

namespace groundmetric::fuzz {
namespace {

Pair make_pair(Input& input) {
    Pair pair;
    const bool is_square = input.byte() % 4 != 0;
    const int m = input.n_bins(), n = is_square ? m : input.n_bins();
    const bool is_metric = is_square && input.coin();
    pair.r = distribution(input, m);
    pair.c =
        input.byte() % 8 == 0 && is_square ? pair.r : distribution(input, n);
    // Validation takes a mass that is nearly 1 for 1.
    pair.total = 1.0;
    if (input.byte() % 4 == 0) {
        const double scale =
            std::clamp(input.number(Input::Kind::steep, false), 1e-240, 1e290);
        for (double& x : pair.r) x *= scale;
        for (double& x : pair.c) x *= scale;
        pair.total = mass_of(pair.r);
    }
    pair.cost = is_square
                    ? square_cost(input, m, is_metric)
                    : input.numbers(static_cast<std::size_t>(m) * n, true);
    return pair;
}

double solve_batch(DenseBatch& batch, const CostMatrix& matrix) {
    const std::int64_t chosen = 0;
    double value;
    std::int32_t n_pivots;
    batch.solve(matrix, &chosen, 1, {1, kGoOn}, &value, &n_pivots);
    return value;
}

}  // namespace

void run(Input& input) {
    const Pair pair = make_pair(input);
    if (!is_histogram(pair.r) || !is_histogram(pair.c)) return;
    const Certificate proof = solve(pair);
    const auto left =
        std::make_shared<const Masses>(pair.r.data(), 1, pair.m(), pair.total);
    const auto right =
        std::make_shared<const Masses>(pair.c.data(), 1, pair.n(), pair.total);
    const std::int64_t both[] = {0, 0};
    DenseBatch batch(left, right, both, 1, kGoOn);
    const CostMatrix matrix(pair.cost.data(), pair.m(), pair.n());
    std::vector<double> other = pair.cost;
    for (double& x : other) x *= input.number(Input::Kind::ties, false) / 4.0;
    const CostMatrix changed(other.data(), pair.m(), pair.n());
    const double first = solve_batch(batch, matrix);
    solve_batch(batch, changed);
    const double again = solve_batch(batch, matrix);
    if (!pair.is_in_range()) return;
    const double slack = 2.0 * allowed_gap(proof, pair);
    require_close(first, proof.value, slack, "the distance of a batch");
    require_close(again, proof.value, slack, "the distance of a kept tree");
}

}  // namespace groundmetric::fuzz
