// All distances between a few histograms, by the hub if costs are thresholded,
// in two threads: each as one pair proves it.
#include "batch/pairwise.h"

#include "checks.h"
#include "input.h"

namespace groundmetric::fuzz {
namespace {

// Thresholded at one of its entries, so that the hub may pay off.
void cut(std::vector<double>& cost, Input& input) {
    const std::size_t at = static_cast<std::size_t>(
        input.integer(0, static_cast<int>(cost.size()) - 1));
    const double threshold = cost[at];
    if (threshold <= 0.0) return;
    for (double& x : cost) x = std::min(x, threshold);
}

}  // namespace

void run(Input& input) {
    const int d = input.n_bins(), n = input.integer(1, 4);
    std::vector<double> cost = square_cost(input, d, input.coin());
    if (input.byte() % 8 != 0) cut(cost, input);
    std::vector<std::vector<double>> rows;
    std::vector<double> x;
    for (int i = 0; i < n; ++i) {
        rows.push_back(distribution(input, d));
        x.insert(x.end(), rows.back().begin(), rows.back().end());
    }
    const Masses masses(x.data(), n, d, 1.0);
    const CostMatrix matrix(cost.data(), d, d);
    const int n_threads = input.byte() % 16 == 0 ? 2 : 1;
    std::vector<double> distances(static_cast<std::size_t>(n * n));
    pairwise(masses, masses, matrix, {false, true}, {n_threads, kGoOn},
             distances.data());
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            const Pair pair{rows[i], rows[j], cost, 1.0};
            const Certificate proof = solve(pair);
            if (!pair.is_in_range()) continue;
            // A hub is used if it is accurate to 1e-12 of the distance.
            require_close(
                distances[i * n + j], proof.value,
                2.0 * allowed_gap(proof, pair) + 2e-12 * std::abs(proof.value),
                "a distance by the hub");
        }
}

}  // namespace groundmetric::fuzz
