// An integer of 128 bits in two words, for compilers without one, with the
// operations that masses need.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>

namespace groundmetric {

class Int128 {
public:
    constexpr Int128() = default;
    template <std::integral T>
    constexpr Int128(T x)
        : high_(x < T{0} ? -1 : 0), low_(static_cast<std::uint64_t>(x)) {}
    // A whole number, at least 0 and less than 2^127.
    constexpr explicit Int128(double x)
        : high_(static_cast<std::int64_t>(x * 0x1p-64)),
          low_(static_cast<std::uint64_t>(x - static_cast<double>(high_) *
                                                  0x1p64)) {}

    constexpr explicit operator std::int64_t() const {
        return static_cast<std::int64_t>(low_);
    }
    constexpr explicit operator std::uint64_t() const { return low_; }

    friend constexpr bool operator==(Int128, Int128) = default;
    friend constexpr auto operator<=>(Int128, Int128) = default;

    friend constexpr Int128 operator+(Int128 a, Int128 b) {
        const std::uint64_t low = a.low_ + b.low_;
        return {bits(a.high_) + bits(b.high_) + (low < a.low_ ? 1 : 0), low};
    }
    friend constexpr Int128 operator~(Int128 a) {
        return {~bits(a.high_), ~a.low_};
    }
    friend constexpr Int128 operator-(Int128 a) { return ~a + Int128(1); }
    friend constexpr Int128 operator-(Int128 a, Int128 b) { return a + -b; }
    constexpr Int128& operator+=(Int128 other) { return *this = *this + other; }
    constexpr Int128& operator-=(Int128 other) { return *this = *this - other; }

    // By 0 to 127 bits; to the right, the sign stays. A word must not be
    // shifted by 64 bits.
    friend constexpr Int128 operator<<(Int128 a, int n) {
        if (n == 0) return a;
        if (n >= 64) return {a.low_ << (n - 64), 0};
        return {bits(a.high_) << n | a.low_ >> (64 - n), a.low_ << n};
    }
    friend constexpr Int128 operator>>(Int128 a, int n) {
        if (n == 0) return a;
        if (n >= 64) return a.high_ >> (n - 64);
        return {bits(a.high_ >> n), bits(a.high_) << (64 - n) | a.low_ >> n};
    }

private:
    constexpr Int128(std::uint64_t high, std::uint64_t low)
        : high_(static_cast<std::int64_t>(high)), low_(low) {}
    static constexpr std::uint64_t bits(std::int64_t x) {
        return static_cast<std::uint64_t>(x);
    }

    std::int64_t high_;  // first: the order of the members is that of numbers
    std::uint64_t low_;
};

}  // namespace groundmetric
