#include "turn.h"

#include <chrono>
#include <stdexcept>

namespace groundmetric {

Turn::Turn(Turnstile& turnstile, const Poll& poll) : turnstile_(turnstile) {
    const auto self = std::this_thread::get_id();
    if (turnstile.holder == self)
        throw std::runtime_error(
            "This thread is already inside another call of the same object.");
    while (!turnstile.mutex.try_lock_for(std::chrono::milliseconds(50)))
        if (!poll(0)) throw Stopped();
    turnstile.holder = self;
}

Turn::~Turn() {
    turnstile_.holder = std::thread::id();
    turnstile_.mutex.unlock();
}

}  // namespace groundmetric
