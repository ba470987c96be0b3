// Every allocation of every call fails once: the call throws bad_alloc or
// completes, and the object then gives the same result as a new one.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "calls.h"
#include "checks.h"

namespace {

constexpr long kNever = -1;
std::atomic<long> n_left{kNever};  // until an allocation fails

void* allocate(std::size_t size, std::size_t alignment) {
    if (n_left.load() != kNever && n_left.fetch_sub(1) == 0) {
        n_left = kNever;
        throw std::bad_alloc();
    }
    const std::size_t whole = (size + alignment - 1) / alignment * alignment;
    void* const memory = std::aligned_alloc(alignment, whole);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size, 16); }
void* operator new(std::size_t size, std::align_val_t alignment) {
    return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}

namespace groundmetric::fuzz {
namespace {

// Fails the n-th allocation of a call; false if there are fewer.
bool try_one(const Call& call, long n, int n_threads, const Numbers& want,
             bool& threw) {
    const auto function = call.make();
    const Threading threading{n_threads, kGoOn};
    n_left = n;
    threw = false;
    try {
        require(function(threading) == want, call.name.c_str());
    } catch (const std::bad_alloc&) {
        threw = true;
    }
    const bool has_failed = n_left.exchange(kNever) == kNever;
    require(function(threading) == want, "the call after a failure");
    return has_failed;
}

void run(const Call& call, int n_threads) {
    const Numbers want = call.make()({1, kGoOn});
    long n_thrown = 0, n = 0;
    for (bool threw; try_one(call, n, n_threads, want, threw); ++n)
        n_thrown += threw;
    require(n > 0, "the number of allocations");
    std::printf("%s, %d threads: %ld allocations, %ld calls threw\n",
                call.name.c_str(), n_threads, n, n_thrown);
}

}  // namespace
}  // namespace groundmetric::fuzz

int main() {
    using namespace groundmetric::fuzz;
    constexpr int kSize = 5, kBins = 20;
    const Example example(kSize, kBins);
    for (const Call& call : all_calls(example, kSize, kBins))
        for (const int n_threads : {1, 2}) run(call, n_threads);
    return 0;
}
