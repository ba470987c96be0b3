#include "base/masses.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace groundmetric {

MassSummary summarize(const double* histograms, std::int64_t n, int d) {
    MassSummary out{};
    for (std::int64_t i = 0; i < n; ++i) {
        const double* x = histograms + i * d;
        const double mass = std::accumulate(x, x + d, 0.0);
        const double smallest = *std::min_element(x, x + d);
        if (i == 0) out = {smallest, mass, mass, mass};
        out.smallest_entry = std::min(out.smallest_entry, smallest);
        if (std::isnan(mass)) out.low_mass = out.high_mass = mass;
        out.low_mass = std::min(out.low_mass, mass);
        out.high_mass = std::max(out.high_mass, mass);
    }
    return out;
}

namespace {

constexpr int kBits = 120;

// x >= 0, less than 2^kBits, to the nearest integer. From 2^52 on, x is one: 53
// bits of its representation, shifted.
Mass to_units(double x) {
    if (x < 0x1p52)
        return static_cast<Mass>(
            static_cast<std::int64_t>((x + 0x1p52) - 0x1p52));
    const auto bits = std::bit_cast<std::uint64_t>(x);
    constexpr std::uint64_t kOne = std::uint64_t{1} << 52;
    const auto digits = static_cast<std::int64_t>((bits & (kOne - 1)) | kOne);
    return static_cast<Mass>(digits) << (static_cast<int>(bits >> 52) - 1075);
}

}  // namespace

Masses::Masses(const double* histograms, std::int64_t n, int d, double total)
    : n_(n), d_(d), units_(static_cast<std::size_t>(n * d)) {
    std::frexp(total, &exponent_);  // total < 2^exponent
    exponent_ -= kBits;
    sum_ = to_units(std::ldexp(total, -exponent_));

    const double per_unit = std::ldexp(1.0, -exponent_);
    for (std::int64_t i = 0; i < n; ++i) {
        const double* x = histograms + i * d;
        const double factor = total / std::accumulate(x, x + d, 0.0);
        Mass* out = units_.data() + i * d;
        for (int p = 0; p < d; ++p) out[p] = to_units(x[p] * factor * per_unit);
        *std::max_element(out, out + d) +=
            sum_ - std::accumulate(out, out + d, Mass{0});
    }
}

}  // namespace groundmetric
