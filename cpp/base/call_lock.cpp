#include "base/call_lock.h"

#include <chrono>
#include <stdexcept>

namespace groundmetric {

Turn::Turn(Turnstile& turnstile, const Poll& poll) : turnstile_(turnstile) {
    constexpr std::chrono::milliseconds kInterval{50};
    const auto self = std::this_thread::get_id();
    const auto nobody_holds = [&] {
        return turnstile.holder == std::thread::id();
    };
    std::unique_lock lock(turnstile.mutex);
    if (turnstile.holder == self)
        throw std::runtime_error(
            "This thread is already inside another call of the same object.");
    while (!turnstile.is_free.wait_for(lock, kInterval, nobody_holds)) {
        lock.unlock();
        if (!poll(0)) throw Stopped();
        lock.lock();
    }
    turnstile.holder = self;
}

Turn::~Turn() {
    {
        const std::lock_guard lock(turnstile_.mutex);
        turnstile_.holder = std::thread::id();
    }
    turnstile_.is_free.notify_one();
}

}  // namespace groundmetric
