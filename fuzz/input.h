// Problems from the bytes of a fuzzer.
//
// Bytes that are missing come from a generator that the given ones seed: a few
// bytes describe a large problem, and every input is a whole one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace groundmetric::fuzz {

class Input {
public:
    Input(const std::uint8_t* data, std::size_t size)
        : data_(data), left_(size) {
        for (std::size_t k = 0; k < size; ++k)
            state_ = (state_ ^ data[k]) * 0x100000001b3u;
    }

    std::uint8_t byte() {
        if (left_ > 0) {
            --left_;
            return *data_++;
        }
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return static_cast<std::uint8_t>(state_ >> 32);
    }
    // low <= x <= high.
    int integer(int low, int high) {
        const int wide = byte() | byte() << 8;
        return low + wide % (high - low + 1);
    }
    bool coin() { return (byte() & 1) != 0; }
    // Mostly small; large enough for the smoothed start now and then.
    int n_bins() {
        const int kind = byte();
        return kind < 220   ? integer(1, 9)
               : kind < 250 ? integer(10, 40)
                            : integer(45, 60);
    }

    // How the numbers of an array are made: few distinct ones make ties, the
    // others span a part or all of the range of a double.
    enum class Kind { ties, decimals, decades, steep, any, n_kinds };
    Kind kind() {
        return static_cast<Kind>(byte() % static_cast<int>(Kind::n_kinds));
    }
    // Finite, and not negative unless `is_signed`.
    double number(Kind kind, bool is_signed) {
        const double x = magnitude(kind);
        return is_signed && coin() ? -x : x;
    }
    std::vector<double> numbers(std::size_t n, bool is_signed) {
        const Kind shared = kind();
        std::vector<double> out(n);
        for (double& x : out) x = number(shared, is_signed);
        return out;
    }

private:
    double magnitude(Kind kind) {
        const int b = byte();
        switch (kind) {
            case Kind::ties:
                return b % 4;
            case Kind::decimals:
                return b / 10.0;
            case Kind::decades:  // 10 of them on either side of 1
                return b == 0 ? 0.0 : std::pow(10.0, (b - 128) / 12.8);
            case Kind::steep:  // 300
                return b == 0 ? 0.0 : std::pow(10.0, (b - 128) * 2.34);
            default:
                return any_double();
        }
    }
    double any_double() {
        std::uint64_t bits = 0;
        for (int k = 0; k < 8; ++k) bits = bits << 8 | byte();
        double x;
        std::memcpy(&x, &bits, sizeof x);
        return std::isfinite(x) ? std::abs(x) : 1.0;
    }

    const std::uint8_t* data_;
    std::size_t left_;
    std::uint64_t state_ = 0xcbf29ce484222325u;
};

// One problem, solved and checked. Each target defines its own.
void run(Input& input);

// What validation accepts: no mass below 1e-250, no sum out of range.
inline double mass_of(const std::vector<double>& histogram) {
    double mass = 0.0;
    for (const double x : histogram) mass += x;
    return mass;
}
inline bool is_histogram(const std::vector<double>& histogram) {
    const double mass = mass_of(histogram);
    return mass >= 1e-250 && std::isfinite(mass);
}
// A histogram of mass 1.
inline std::vector<double> distribution(Input& input, int d) {
    std::vector<double> x = input.numbers(static_cast<std::size_t>(d), false);
    if (!is_histogram(x)) x.assign(x.size(), 1.0);
    const double mass = mass_of(x);
    for (double& entry : x) entry /= mass;
    return x;
}

// Any d x d cost; if `is_metric`, the shortest paths of a symmetric one.
inline std::vector<double> square_cost(Input& input, int d, bool is_metric) {
    const auto n = static_cast<std::size_t>(d);
    std::vector<double> cost = input.numbers(n * n, !is_metric);
    if (!is_metric) return cost;
    for (double& x : cost) x = std::min(x, 1e300);  // sums stay finite
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j <= i; ++j)
            cost[i * n + j] = i == j ? 0.0 : cost[j * n + i];
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t k = 0; k < n; ++k)
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t j = 0; j < n; ++j) {
                    const double detour = cost[i * n + k] + cost[k * n + j];
                    changed |= detour < cost[i * n + j];
                    cost[i * n + j] = std::min(cost[i * n + j], detour);
                }
    }
    return cost;
}

}  // namespace groundmetric::fuzz
