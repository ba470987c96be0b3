// Everything that runs in threads, for the thread sanitizer: many threads in
// one call, many calls of one object at a time, and calls that are stopped.
// Results must not depend on any of it.
#include <atomic>
#include <cstdio>
#include <thread>

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
    check_team();
    // So many bins that the triangles are checked in threads.
    const Example large(1, 300);
    require(large.matrix()->is_quasimetric(kThreads, kGoOn), "a metric");
    return 0;
}
