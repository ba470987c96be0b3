// Threads over independent items, with a caller that can be interrupted.
//
// No thread outlives a call (so the library is safe after fork), the calling
// thread takes its share of the work, and only it polls: about every 50 ms it
// calls `poll` with the number of items done, and stops if that returns false.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>

#include "base/team.h"

namespace groundmetric {

// Thrown to stop the work if poll() returned false or another thread failed.
struct Stopped : std::exception {
    const char* what() const noexcept override { return "stopped"; }
};

using Poll = std::function<bool(std::int64_t n_done)>;

struct Threading {
    int n_threads;
    Poll poll;
};

// Sets the time between two polls of the calls that follow, and returns the one
// before. If it is zero, every check polls: tests count polls, not seconds.
std::chrono::milliseconds set_poll_interval(std::chrono::milliseconds interval);
std::chrono::milliseconds poll_interval();

// Shared by the threads of one call.
struct Shared {
    Poll poll;
    std::atomic<std::int64_t> next{0};
    std::atomic<std::int64_t> n_done{0};
    std::atomic<bool> stop{false};
};

// Asks on behalf of one thread whether to stop. Long computations call check()
// now and then; it throws Stopped when the work has to end.
class StopToken {
public:
    // The thread's items may use n_threads, itself included.
    StopToken(Shared& shared, bool is_caller, int n_threads = 1)
        : shared_(shared), is_caller_(is_caller), n_threads_(n_threads) {}
    void check();
    // The threads that help with a large item of n_blocks, started when they
    // are first needed; nullptr for a single block or thread.
    Team* team(int n_blocks);

private:
    using Clock = std::chrono::steady_clock;
    Shared& shared_;
    bool is_caller_;
    int n_threads_;
    std::unique_ptr<Team> team_;
    std::chrono::milliseconds interval_ = poll_interval();
    Clock::time_point next_poll_ = Clock::now() + interval_;
};

// Number of threads that these chunks of items keep busy: at most n_threads, at
// least one.
int n_workers(std::int64_t n_items, std::int64_t chunk, int n_threads);

using Body =
    std::function<void(std::int64_t item, int worker, StopToken& stop)>;

// Calls body(item, worker, stop) once for each item in [0, n_items), with
// 0 <= worker < n_workers(...); items are handed out in chunks. If there are
// fewer items than threads, the others help with large ones. Rethrows the first
// exception of any thread.
void parallel_for(std::int64_t n_items, int n_threads, std::int64_t chunk,
                  const Poll& poll, const Body& body);

}  // namespace groundmetric
