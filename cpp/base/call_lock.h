// Calls of one object from several threads take turns.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/parallel.h"

namespace groundmetric {

// The state that an object keeps for its turns. Not a timed mutex: the thread
// sanitizer does not see those.
struct Turnstile {
    std::mutex mutex;  // of the holder
    std::condition_variable is_free;
    std::thread::id holder;  // none if nobody holds the object
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
