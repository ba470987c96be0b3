// The nearest neighbors that the pruned search finds are those of all
// distances.
#include <limits>

#include "batch/pairwise.h"
#include "checks.h"
#include "input.h"
#include "search/dense_search.h"

namespace groundmetric::fuzz {
namespace {}  // namespace

void run(Input& input) {
    const int d = input.n_bins(), n = input.integer(2, 12);
    const int k = input.integer(1, n);
    const std::vector<double> cost = square_cost(input, d, true);
    std::vector<double> x;
    for (int i = 0; i < n; ++i) {
        const std::vector<double> row = distribution(input, d);
        x.insert(x.end(), row.begin(), row.end());
    }
    const auto masses = std::make_shared<const Masses>(x.data(), n, d, 1.0);
    const auto matrix = std::make_shared<const CostMatrix>(cost.data(), d, d);
    const Threading threading{input.byte() % 16 == 0 ? 2 : 1, kGoOn};
    std::vector<double> all(static_cast<std::size_t>(n * n));
    pairwise(*masses, *masses, *matrix, {true, true}, threading, all.data());
    const bool among_base = input.coin();
    Request request;
    request.n_neighbors = k;
    request.radii.assign(static_cast<std::size_t>(n),
                         std::numeric_limits<double>::infinity());
    request.end = n;
    const Neighborhoods found =
        DenseSearch(masses, matrix, kGoOn)
            .find(among_base ? nullptr : masses.get(), request, threading);
    for (int i = 0; i < n; ++i) {
        std::vector<Neighbor> wanted;
        for (int j = 0; j < n; ++j)
            if (!among_base || j != i) wanted.push_back({all[i * n + j], j});
        std::sort(wanted.begin(), wanted.end());
        wanted.resize(std::min<std::size_t>(wanted.size(), k));
        require(found.starts[i + 1] - found.starts[i] ==
                    static_cast<std::int64_t>(wanted.size()),
                "the number of neighbors");
        for (std::size_t l = 0; l < wanted.size(); ++l) {
            const double distance =
                found.neighbors[found.starts[i] + l].distance;
            require_close(distance, wanted[l].distance,
                          1e-12 * (distance + matrix->scale()),
                          "the distance of a neighbor");
        }
    }
}

}  // namespace groundmetric::fuzz
