#include "base/masses.h"

#include <algorithm>
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

// x >= 0, less than 2^kBits, to the nearest integer.
Mass to_units(double x) {
    const double high = std::trunc(x * 0x1p-53);
    return (static_cast<Mass>(high) << 53) +
           static_cast<Mass>(std::llrint(x - high * 0x1p53));
}

}  // namespace

Masses::Masses(const double* histograms, std::int64_t n, int d, double total)
    : n_(n), d_(d), units_(static_cast<std::size_t>(n * d)) {
    std::frexp(total, &exponent_);  // total < 2^exponent
    exponent_ -= kBits;
    sum_ = to_units(std::ldexp(total, -exponent_));

    for (std::int64_t i = 0; i < n; ++i) {
        const double* x = histograms + i * d;
        const double factor = total / std::accumulate(x, x + d, 0.0);
        Mass* out = units_.data() + i * d;
        for (int p = 0; p < d; ++p)
            out[p] = to_units(std::ldexp(x[p] * factor, -exponent_));
        *std::max_element(out, out + d) +=
            sum_ - std::accumulate(out, out + d, Mass{0});
    }
}

}  // namespace groundmetric
