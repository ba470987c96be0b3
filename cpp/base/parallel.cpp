#include "base/parallel.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace groundmetric {
namespace {

std::atomic<std::chrono::milliseconds> interval{std::chrono::milliseconds(50)};

}  // namespace

std::chrono::milliseconds poll_interval() { return interval; }

std::chrono::milliseconds set_poll_interval(std::chrono::milliseconds wanted) {
    return interval.exchange(wanted);
}

void StopToken::check() {
    if (shared_.stop.load(std::memory_order_relaxed)) throw Stopped();
    if (!is_caller_) return;
    const auto now = Clock::now();
    if (now < next_poll_) return;
    next_poll_ = now + interval_;
    if (!shared_.poll(shared_.n_done.load(std::memory_order_relaxed))) {
        shared_.stop = true;
        throw Stopped();
    }
}

Team* StopToken::team(int n_blocks) {
    const int n_helpers = std::min(n_threads_, n_blocks) - 1;
    if (n_helpers <= 0) return nullptr;
    if (!team_) team_ = std::make_unique<Team>();
    team_->grow(n_helpers);
    return team_.get();
}

namespace {

void work(Shared& shared, std::int64_t n_items, std::int64_t chunk, int worker,
          StopToken& stop, const Body& body) {
    for (;;) {
        const std::int64_t begin = shared.next.fetch_add(chunk);
        const std::int64_t end = std::min(begin + chunk, n_items);
        for (std::int64_t item = begin; item < end; ++item) {
            stop.check();
            body(item, worker, stop);
        }
        if (end <= begin) return;
        shared.n_done += end - begin;
    }
}

// The threads beside the caller: starts them, keeps the first exception of any
// thread, and keeps polling while it waits for them to end.
class Crew {
public:
    Crew(Shared& shared, int n_threads) : shared_(shared) {
        threads_.reserve(static_cast<std::size_t>(n_threads));
    }
    // They have ended if all went well; if not, stop them.
    ~Crew() {
        shared_.stop = true;
        for (std::thread& thread : threads_) thread.join();
    }

    // Runs task and keeps what it throws.
    template <class Task>
    void guard(const Task& task) {
        try {
            task();
        } catch (...) {
            const std::lock_guard lock(mutex_);
            if (!error_) error_ = std::current_exception();
            shared_.stop = true;
        }
    }

    // False if the system cannot start a thread: the others do its share.
    template <class Task>
    bool start(const Task& task) {
        try {
            threads_.emplace_back([this, task] {
                guard(task);
                const std::lock_guard lock(mutex_);
                ++n_finished_;
                finished_.notify_one();
            });
        } catch (const std::system_error&) {
            return false;
        } catch (const std::bad_alloc&) {
            return false;
        }
        return true;
    }

    void wait(StopToken& stop) {
        std::unique_lock lock(mutex_);
        while (n_finished_ < threads_.size()) {
            finished_.wait_for(lock, std::chrono::milliseconds(10));
            if (shared_.stop) continue;
            lock.unlock();
            guard([&stop] { stop.check(); });
            lock.lock();
        }
        if (error_) std::rethrow_exception(error_);
    }

private:
    Shared& shared_;
    std::mutex mutex_;
    std::condition_variable finished_;
    std::size_t n_finished_ = 0;
    std::exception_ptr error_;
    std::vector<std::thread> threads_;
};

}  // namespace

int n_workers(std::int64_t n_items, std::int64_t chunk, int n_threads) {
    const std::int64_t n_chunks = (n_items + chunk - 1) / chunk;
    return static_cast<int>(std::clamp<std::int64_t>(
        n_threads, 1, std::max<std::int64_t>(n_chunks, 1)));
}

void parallel_for(std::int64_t n_items, int n_threads, std::int64_t chunk,
                  const Poll& poll, const Body& body) {
    Shared shared{poll};
    const int workers = n_workers(n_items, chunk, n_threads);
    const auto share = [&](int worker) {
        return n_threads / workers + (worker < n_threads % workers ? 1 : 0);
    };
    StopToken stop(shared, true, share(0));
    if (workers == 1) {
        work(shared, n_items, chunk, 0, stop, body);
        return;
    }
    Crew crew(shared, workers - 1);
    for (int worker = 1; worker < workers; ++worker) {
        const bool started = crew.start([&, worker] {
            StopToken own(shared, false, share(worker));
            work(shared, n_items, chunk, worker, own, body);
        });
        if (!started) break;
    }
    crew.guard([&] { work(shared, n_items, chunk, 0, stop, body); });
    crew.wait(stop);
}

}  // namespace groundmetric
