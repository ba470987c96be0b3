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

// Shared by the threads of one call.
struct Shared {
    Poll poll;
    std::atomic<std::int64_t> next{0};
    std::atomic<std::int64_t> n_done{0};
    std::atomic<bool> stop{false};
};

// The pulse of one thread. Long computations call beat() now and then; it
// throws Stopped when the work has to end.
class Pulse {
public:
    Pulse(Shared& shared, bool is_caller)
        : shared_(shared), is_caller_(is_caller) {}
    void beat();

private:
    using Clock = std::chrono::steady_clock;
    Shared& shared_;
    bool is_caller_;
    Clock::time_point next_poll_ = Clock::now() + kInterval;
    static constexpr std::chrono::milliseconds kInterval{50};
};

// Number of threads that these chunks of items keep busy: at most n_threads, at
// least one.
int n_workers(std::int64_t n_items, std::int64_t chunk, int n_threads);

using Body = std::function<void(std::int64_t item, int worker, Pulse& pulse)>;

// Calls body(item, worker, pulse) once for each item in [0, n_items), with
// 0 <= worker < n_workers(...); items are handed out in chunks. Rethrows the
// first exception of any thread.
void parallel_for(std::int64_t n_items, int n_threads, std::int64_t chunk,
                  const Poll& poll, const Body& body);

}  // namespace groundmetric
