// Everything that runs in threads, for the thread sanitizer: many threads in
// one call, many calls of one object at a time, and calls that are stopped.
// Results must not depend on any of it.
#include <atomic>
#include <cmath>
#include <cstdio>
#include <deque>
#include <numeric>
#include <thread>

#include "batch/dense_batch.h"
#include "batch/sparse_batch.h"
#include "calls.h"
#include "checks.h"

namespace groundmetric::fuzz {
namespace {

constexpr int kThreads = 4;

void run(const Call& call) {
    const auto function = call.make();
    const Numbers want = call.make()({1, kGoOn});
    require(function({kThreads, kGoOn}) == want, call.name.c_str());
    // A poll that says no at once; short calls may end before it is asked.
    try {
        function({kThreads, [](std::int64_t) { return false; }});
    } catch (const Stopped&) {
    }
    std::atomic<int> n_wrong{0};
    std::vector<std::thread> threads;
    for (int k = 0; k < kThreads; ++k)
        threads.emplace_back([&] {
            if (call.remembers)
                function({2, kGoOn});
            else if (function({2, kGoOn}) != want)
                ++n_wrong;
        });
    for (std::thread& thread : threads) thread.join();
    require(n_wrong == 0, call.name.c_str(), n_wrong);
    std::printf("%s: %zu numbers\n", call.name.c_str(), want.size());
}

// Values of all pairs of one batch under the k-th of kThreads costs.
using Solve = std::function<Numbers(int k)>;

// Each thread solves the same batch for a cost of its own, again and again.
// Kept trees are those of other threads, so sums are rounded in another order.
void check_turns(const char* name, const std::function<Solve()>& make) {
    constexpr int kRounds = 5;
    const Solve shared = make();
    std::atomic<int> n_wrong{0};
    std::vector<std::thread> threads;
    for (int k = 0; k < kThreads; ++k)
        threads.emplace_back([&, k] {
            const Numbers want = make()(k);
            for (int round = 0; round < kRounds; ++round) {
                const Numbers found = shared(k);
                for (std::size_t i = 0; i < want.size(); ++i)
                    n_wrong += std::abs(found[i] - want[i]) > 1e-12 * want[i];
            }
        });
    for (std::thread& thread : threads) thread.join();
    require(n_wrong == 0, name, n_wrong);
    std::printf("%s, %d costs at a time\n", name, kThreads);
}

// Metrics and other costs by turns.
std::deque<CostMatrix> costs_of(const Example& example, int d) {
    std::deque<CostMatrix> costs;
    for (int k = 0; k < kThreads; ++k) {
        Numbers cost = example.metric();
        for (double& x : cost) x = std::pow(x, 1 + k % 2) * (1 + k);
        costs.emplace_back(cost.data(), d, d);
    }
    return costs;
}

template <class Batch, class Solved>
Solve solve_all(std::shared_ptr<Batch> batch, Solved solve) {
    return [batch, solve](int k) {
        Numbers values(static_cast<std::size_t>(batch->size()));
        std::vector<std::int32_t> n_pivots(values.size());
        std::vector<std::int64_t> chosen(values.size());
        std::iota(chosen.begin(), chosen.end(), 0);
        solve(*batch, k, chosen, values.data(), n_pivots.data());
        return values;
    };
}

void check_batches(const Example& example, int d) {
    const std::vector<std::int64_t> pairs = example.pairs();
    const auto n = static_cast<std::int64_t>(pairs.size() / 2);
    const Threading threading{2, kGoOn};
    const std::deque<CostMatrix> costs = costs_of(example, d);
    std::vector<Points> points;
    for (int k = 0; k < kThreads; ++k)
        points.emplace_back(example.histograms().data() + k, d, 3);
    std::vector<std::int32_t> all(static_cast<std::size_t>(d));
    std::iota(all.begin(), all.end(), 0);

    check_turns("batch", [&] {
        return solve_all(
            std::make_shared<DenseBatch>(example.masses(), example.masses(),
                                         pairs.data(), n, kGoOn),
            [&](DenseBatch& batch, int k, const auto& chosen, double* values,
                std::int32_t* n_pivots) {
                batch.solve(costs[k], chosen.data(), n, threading, values,
                            n_pivots);
            });
    });
    const auto supports = [&](bool reduced) {
        return std::make_shared<SparseBatch>(example.sparse_masses(),
                                             example.sparse_masses(),
                                             pairs.data(), n, reduced, kGoOn);
    };
    check_turns("batch of supports, matrices", [&] {
        return solve_all(
            supports(false), [&](SparseBatch& batch, int k, const auto& chosen,
                                 double* values, std::int32_t* n_pivots) {
                batch.solve(batch.begin(), ListedCosts{costs[k], all, all},
                            chosen.data(), n, threading, values, n_pivots);
            });
    });
    check_turns("batch of supports, points", [&] {
        return solve_all(
            supports(true), [&](SparseBatch& batch, int k, const auto& chosen,
                                double* values, std::int32_t* n_pivots) {
                batch.solve(batch.begin(), points[k], chosen.data(), n,
                            threading, values, n_pivots);
            });
    });
}

// A team has helpers for the largest job so far, not for the first one.
void check_team() {
    Shared shared{kGoOn};
    StopToken stop(shared, true, kThreads);
    require(stop.team(1) == nullptr, "a team for one block");
    for (const int n_blocks : {2, kThreads, 100, 2}) {
        Team* const team = stop.team(n_blocks);
        std::atomic<int> n_done{0};
        team->run(n_blocks, stop, [&](std::int64_t) { ++n_done; });
        require(n_done == n_blocks, "the blocks of a job", n_done, n_blocks);
        const int n_wanted = n_blocks == 2 ? 1 : kThreads - 1;
        require(team->n_helpers() >= n_wanted, "the helpers of a job",
                team->n_helpers(), n_wanted);
    }
}

}  // namespace
}  // namespace groundmetric::fuzz

int main() {
    using namespace groundmetric::fuzz;
    constexpr int kSize = 24, kBins = 40;
    const Example example(kSize, kBins);
    for (const Call& call : all_calls(example, kSize, kBins)) run(call);
    check_batches(example, kBins);
    check_team();
    // Enough bins that the triangles are checked in threads.
    const Example large(1, 300);
    require(large.matrix()->is_quasimetric(kThreads, kGoOn), "a metric");
    return 0;
}
