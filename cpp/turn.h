// Calls of one object from several threads take turns.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include "parallel.h"

namespace groundmetric {

// What an object keeps for its turns.
struct Turnstile {
    std::timed_mutex mutex;
    std::atomic<std::thread::id> holder;
};

// Holds an object for one call. Waiting for it can be interrupted, and a
// thread that has it already (in a signal handler, say) is refused: it would
// wait for itself.
class Turn {
public:
    Turn(Turnstile& turnstile, const Poll& poll);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

private:
    Turnstile& turnstile_;
};

}  // namespace groundmetric
