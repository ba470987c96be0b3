#include "sparse/sparse_pairwise.h"

#include <algorithm>

#include "base/kernels.h"
#include "transport/simplex.h"

namespace groundmetric {
namespace {

// One thread's.
template <class Costs>
struct alignas(128) Worker {
    Costs costs;
    TransportSimplex simplex;
    std::int64_t row = -1;  // that costs has started with
};

// Rows are split into parts if there are too few to keep all threads busy.
std::int64_t n_parts(std::int64_t n_rows, std::int64_t n_columns,
                     int n_threads) {
    constexpr std::int64_t kPerThread = 8;
    const std::int64_t wanted = kPerThread * n_threads;
    return std::clamp<std::int64_t>((wanted + n_rows - 1) / n_rows, 1,
                                    n_columns);
}

template <class Costs, class Source>
void solve_all(const SparseMasses& x, const SparseMasses& y,
               const Source& source, const SparseOptions& options,
               const Threading& threading, double scale, double* distances) {
    const std::int64_t n = y.size();
    const std::int64_t parts = threading.n_threads == 1
                                   ? 1
                                   : n_parts(x.size(), n, threading.n_threads);
    const std::int64_t part = (n + parts - 1) / parts;
    const std::int64_t n_items = x.size() * parts;
    std::vector<Worker<Costs>> workers(
        static_cast<std::size_t>(n_workers(n_items, 1, threading.n_threads)),
        Worker<Costs>{Costs(source), {}});
    const int exponent = std::ilogb(x.unit()) + std::ilogb(scale);
    const Body body = [&](std::int64_t k, int w, StopToken& stop) {
        Worker<Costs>& worker = workers[w];
        const std::int64_t i = k / parts, first = k % parts * part;
        const Support r = x.row(i);
        if (worker.row != i) worker.costs.start(r);
        worker.row = i;
        const std::int64_t begin =
            options.symmetric ? std::max(first, i) : first;
        const std::int64_t end = std::min(first + part, n);
        std::int64_t ready = begin;
        for (std::int64_t j = begin; j < end; ++j) {
            stop.check();
            if (j == ready) ready = worker.costs.expect(y, j, end);
            const Support c = y.row(j);
            set_margins(worker.simplex.problem, r, c, options.reduced);
            worker.costs.set_costs(worker.simplex.problem, c, false);
            worker.simplex.solve(stop);
            const double value = std::ldexp(worker.simplex.value(), exponent);
            distances[i * n + j] = value;
            if (options.symmetric) distances[j * n + i] = value;
        }
    };
    const Poll poll = [&](std::int64_t n_done) {
        return threading.poll(n_done * part);
    };
    parallel_for(n_items, threading.n_threads, 1, poll, body);
}

}  // namespace

void pairwise(const SparseMasses& x, const SparseMasses& y,
              const Points& points, const SparseOptions& options,
              const Threading& threading, double* distances) {
    solve_all<PointCosts>(x, y, points, options, threading, points.scale(),
                          distances);
}

void pairwise(const SparseMasses& x, const SparseMasses& y,
              const ListedCosts& costs, const SparseOptions& options,
              const Threading& threading, double* distances) {
    solve_all<SparseCosts>(x, y, costs, options, threading,
                           costs.matrix.scale(), distances);
}

}  // namespace groundmetric
