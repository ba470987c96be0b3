#include "base/call_lock.h"

#include <chrono>
#include <stdexcept>

namespace groundmetric {

CallLock::CallLock(CallMutex& object, const Poll& poll) : object_(object) {
    constexpr std::chrono::milliseconds kInterval{50};
    const auto self = std::this_thread::get_id();
    const auto nobody_holds = [&] {
        return object.holder == std::thread::id();
    };
    std::unique_lock lock(object.mutex);
    if (object.holder == self)
        throw std::runtime_error(
            "This thread is already inside another call of the same object.");
    while (!object.is_free.wait_for(lock, kInterval, nobody_holds)) {
        lock.unlock();
        if (!poll(0)) throw Stopped();
        lock.lock();
    }
    object.holder = self;
}

CallLock::~CallLock() {
    {
        const std::lock_guard lock(object_.mutex);
        object_.holder = std::thread::id();
    }
    object_.is_free.notify_one();
}

}  // namespace groundmetric
