// Threads that help another thread with its work, block by block.
//
// They start when a job first needs them, end with the team, which lives within
// one call, and sleep between two jobs. No thread waits for a helper that wakes
// up late: the others have then done its share. So a busy machine does not slow
// a job down much.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace groundmetric {

class StopToken;

class Team {
public:
    Team() = default;
    ~Team();
    // Starts helpers until there are n, or fewer if the system cannot start as
    // many threads.
    void grow(int n);
    int n_helpers() const { return static_cast<int>(helpers_.size()); }

    using Body = std::function<void(std::int64_t block)>;
    // Calls body(block) once for each block in [0, n_blocks), on the calling
    // thread, whose token is given, and on the helpers. Rethrows the first
    // exception of any thread; later blocks are left out then.
    void run(std::int64_t n_blocks, StopToken& stop, const Body& body);

private:
    struct Job {
        const Body& body;
        std::int64_t n_blocks;
        std::atomic<std::int64_t> next{0};
        std::exception_ptr error{};
        bool has_blocks() const { return next < n_blocks; }
    };
    void help();
    // A helper has no token: it ends when the blocks do.
    void work(Job& job, StopToken* stop);

    std::mutex mutex_;
    std::condition_variable wake_, idle_;
    Job* job_ = nullptr;
    int n_busy_ = 0;  // helpers at work
    bool is_over_ = false;
    bool is_full_ = false;  // the system starts no more threads
    std::vector<std::thread> helpers_;
};

}  // namespace groundmetric
