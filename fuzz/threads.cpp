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

}  // namespace
}  // namespace groundmetric::fuzz

int main() {
    using namespace groundmetric::fuzz;
    constexpr int kSize = 24, kBins = 40;
    const Example example(kSize, kBins);
    for (const Call& call : all_calls(example, kSize, kBins)) run(call);
    // So many bins that the triangles are checked in threads.
    const Example large(1, 300);
    require(large.matrix()->is_quasimetric(kThreads, kGoOn), "a metric");
    return 0;
}
