// Calls of one object from several threads take turns.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/parallel.h"

namespace groundmetric {

// What an object keeps, so that its calls take turns. Not a timed mutex: the
// thread sanitizer does not see those.
struct CallMutex {
    std::mutex mutex;  // of the holder
    std::condition_variable is_free;
    std::thread::id holder;  // no id if the object is free
};

// Holds an object for one call. Waiting can be interrupted. A thread that holds
// the object already, as in a signal handler, gets an error: it would wait for
// itself.
class CallLock {
public:
    CallLock(CallMutex& object, const Poll& poll);
    ~CallLock();
    CallLock(const CallLock&) = delete;
    CallLock& operator=(const CallLock&) = delete;

private:
    CallMutex& object_;
};

}  // namespace groundmetric
