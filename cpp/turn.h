// Calls of one object from several threads take turns.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include "parallel.h"

namespace groundmetric {

// The state that an object keeps for its turns.
struct Turnstile {
    std::timed_mutex mutex;
    std::atomic<std::thread::id> holder;
};

// Holds an object for one call. Waiting can be interrupted. A thread that holds
// the object already, as in a signal handler, gets an error: it would wait for
// itself.
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
