#include "tables/table_sum.h"

#include <algorithm>
#include <vector>

#include "tables/typical_table.h"

namespace groundmetric {

double typical_sum(const double* histograms, int d, const std::int64_t* pairs,
                   const double* weights, std::int64_t n_pairs, double total,
                   const Threading& threading, double* sums) {
    // Ranges of pairs are summed separately, then added up in order. Their
    // number depends only on n_pairs and d, and they fit into 64 MB.
    const std::int64_t size = static_cast<std::int64_t>(d) * d;
    const std::int64_t room = std::max<std::int64_t>(1, 8'000'000 / size);
    const std::int64_t n_parts = std::min<std::int64_t>({n_pairs, 32, room});
    std::vector<double> parts(static_cast<std::size_t>(n_parts * size));
    std::vector<double> errors(static_cast<std::size_t>(n_parts));
    std::vector<TypicalTable> tables(
        static_cast<std::size_t>(std::max(threading.n_threads, 1)));

    const Body body = [&](std::int64_t part, int worker, StopToken& stop) {
        for (std::int64_t k = part * n_pairs / n_parts;
             k < (part + 1) * n_pairs / n_parts; ++k) {
            const double error = tables[worker].solve(
                histograms + pairs[2 * k] * d,
                histograms + pairs[2 * k + 1] * d, d, total, stop);
            tables[worker].add_to(parts.data() + part * size, weights[k], stop);
            if (!(error <= errors[part])) errors[part] = error;  // NaN too
        }
    };
    parallel_for(n_parts, threading.n_threads, 1, threading.poll, body);

    std::fill_n(sums, size, 0.0);
    for (std::int64_t part = 0; part < n_parts; ++part)
        for (std::int64_t k = 0; k < size; ++k)
            sums[k] += parts[part * size + k];
    double worst = 0.0;
    for (const double error : errors)
        if (!(error <= worst)) worst = error;
    return worst;
}

}  // namespace groundmetric
