#include "base/team.h"

#include <new>
#include <system_error>

#include "base/parallel.h"

namespace groundmetric {

void Team::grow(int n) {
    if (is_full_) return;
    try {
        helpers_.reserve(static_cast<std::size_t>(n));
        while (n_helpers() < n) helpers_.emplace_back([this] { help(); });
    } catch (const std::system_error&) {
        is_full_ = true;
    } catch (const std::bad_alloc&) {
        is_full_ = true;
    }
}

Team::~Team() {
    {
        const std::lock_guard lock(mutex_);
        is_over_ = true;
    }
    wake_.notify_all();
    for (std::thread& helper : helpers_) helper.join();
}

void Team::help() {
    std::unique_lock lock(mutex_);
    for (;;) {
        wake_.wait(lock, [this] {
            return is_over_ || (job_ != nullptr && job_->has_blocks());
        });
        if (is_over_) return;
        Job& job = *job_;
        ++n_busy_;
        lock.unlock();
        work(job, nullptr);
        lock.lock();
        if (--n_busy_ == 0) idle_.notify_one();
    }
}

void Team::work(Job& job, StopToken* stop) {
    try {
        for (;;) {
            if (stop != nullptr) stop->check();
            const std::int64_t block = job.next.fetch_add(1);
            if (block >= job.n_blocks) return;
            job.body(block);
        }
    } catch (...) {
        job.next = job.n_blocks;
        const std::lock_guard lock(mutex_);
        if (!job.error) job.error = std::current_exception();
    }
}

void Team::run(std::int64_t n_blocks, StopToken& stop, const Body& body) {
    Job job{body, n_blocks};
    {
        const std::lock_guard lock(mutex_);
        job_ = &job;
    }
    wake_.notify_all();
    work(job, &stop);
    std::unique_lock lock(mutex_);
    job_ = nullptr;
    idle_.wait(lock, [this] { return n_busy_ == 0; });
    if (job.error) std::rethrow_exception(job.error);
}

}  // namespace groundmetric
