// Sparse histograms of bins with coordinates: all distances and all neighbors,
// each as one pair proves it.
#include <limits>
#include <numeric>

#include "checks.h"
#include "input.h"
#include "search/point_search.h"
#include "sparse/sparse_pairwise.h"

namespace groundmetric::fuzz {
namespace {

struct Rows {
    std::vector<double> values;
    std::vector<std::int32_t> bins;
    std::vector<std::int64_t> starts{0};
    void add(const std::vector<double>& histogram) {
        for (std::size_t p = 0; p < histogram.size(); ++p)
            if (histogram[p] > 0.0) {
                values.push_back(histogram[p]);
                bins.push_back(static_cast<std::int32_t>(p));
            }
        starts.push_back(static_cast<std::int64_t>(bins.size()));
    }
    SparseMasses masses(int d) const {
        return SparseMasses(values.data(), bins.data(), starts.data(),
                            static_cast<std::int64_t>(starts.size()) - 1, d,
                            1.0);
    }
};

std::vector<double> distances_between(const std::vector<double>& points, int d,
                                      int s, double scale) {
    std::vector<double> cost;
    for (int p = 0; p < d; ++p)
        for (int q = 0; q < d; ++q) {
            long double square = 0.0;
            for (int k = 0; k < s; ++k) {
                const long double x =
                    (static_cast<long double>(points[p * s + k]) -
                     points[q * s + k]) /
                    scale;
                square += x * x;
            }
            cost.push_back(static_cast<double>(std::sqrt(square)) * scale);
        }
    return cost;
}

}  // namespace

void run(Input& input) {
    const int d = input.n_bins(), s = input.integer(1, 4);
    const int n = input.integer(1, 4);
    std::vector<double> coordinates =
        input.numbers(static_cast<std::size_t>(d) * s, true);
    for (double& x : coordinates) x = std::clamp(x, -1e300, 1e300);
    const auto points =
        std::make_shared<const Points>(coordinates.data(), d, s);
    const std::vector<double> cost =
        distances_between(coordinates, d, s, points->scale());
    std::vector<std::vector<double>> rows;
    Rows sparse;
    for (int i = 0; i < n; ++i) {
        rows.push_back(distribution(input, d));
        sparse.add(rows.back());
    }
    const auto masses = std::make_shared<const SparseMasses>(sparse.masses(d));
    std::vector<double> near(static_cast<std::size_t>(n * n)), matrix(near);
    const Threading threading{input.byte() % 16 == 0 ? 2 : 1, kGoOn};
    pairwise(*masses, *masses, *points, {false, true}, threading, near.data());
    std::vector<std::int32_t> all(static_cast<std::size_t>(d));
    std::iota(all.begin(), all.end(), 0);
    pairwise(*masses, *masses, {CostMatrix(cost.data(), d, d), all, all},
             {false, false}, threading, matrix.data());
    Request request;
    request.n_neighbors = n;
    request.radii.assign(static_cast<std::size_t>(n),
                         std::numeric_limits<double>::infinity());
    const Neighborhoods found =
        PointSearch(masses, points)
            .find(masses.get(), -1, request, false, threading);
    require(static_cast<int>(found.neighbors.size()) == n * n, "neighbors");
    std::vector<double> searched(near);
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < n; ++k) {
            const Neighbor& neighbor = found.neighbors[i * n + k];
            searched[i * n + neighbor.index] = neighbor.distance;
        }
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            const Pair pair{rows[i], rows[j], cost, 1.0};
            if (!pair.is_in_range()) return;
            const Certificate proof = solve(pair);
            // Squares of differences below 1e-154 of the largest vanish.
            const double slack = 2.0 * allowed_gap(proof, pair) +
                                 1e-14 * proof.value + 1e-150 * points->scale();
            const int at = i * n + j;
            require_close(near[at], proof.value, slack, "points");
            require_close(matrix[at], proof.value, slack, "sparse");
            require_close(searched[at], proof.value, slack, "a neighbor");
        }
}

}  // namespace groundmetric::fuzz
