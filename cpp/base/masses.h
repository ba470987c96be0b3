// Histograms as integer masses.
//
// The simplex adds and subtracts masses and compares them for equality. On
// integers it does so exactly: flows never drift, ties are ties, and mass that
// two histograms share cancels to zero. One unit of mass is a power of two,
// about 2^-120 of a histogram, so that bins down to 1e-20 of the total convert
// without any rounding, and counts give plans of whole numbers.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/portable.h"
#if !GM_HAS_INT128
#include "base/int128.h"
#endif

namespace groundmetric {

#if GM_HAS_INT128
using Mass = __int128;
#else
using Mass = Int128;
#endif
inline constexpr Mass kMostMass = ~(Mass{1} << 127);

// Faster than the conversion of the compiler's library, which rounds once; the
// last bit may differ, by a second rounding.
inline double to_double(Mass units) {
    return static_cast<double>(static_cast<std::int64_t>(units >> 64)) *
               0x1p64 +
           static_cast<double>(static_cast<std::uint64_t>(units));
}

// What validation needs to know of histograms, in one pass. A sum is finite
// only if all entries are.
struct MassSummary {
    double smallest_entry;
    double first_mass, low_mass, high_mass;  // of a row; NaN if any is
};
MassSummary summarize(const double* histograms, std::int64_t n, int d);

class Masses {
public:
    // Rows of `histograms` (n x d, non-negative, each of positive sum) are
    // scaled to the sum `total`, rounded to units, and the few units that
    // rounding gained or lost are settled on the heaviest bin: all rows then
    // have the same sum exactly.
    Masses(const double* histograms, std::int64_t n, int d, double total);

    const Mass* row(std::int64_t i) const { return units_.data() + i * d_; }
    std::int64_t size() const { return n_; }
    int n_bins() const { return d_; }
    // The mass of one unit, a power of two.
    double unit() const { return std::ldexp(1.0, exponent_); }
    // Whether the rows of both have the same sum in the same units, so that
    // plans between them exist.
    bool has_mass_of(const Masses& other) const {
        return exponent_ == other.exponent_ && sum_ == other.sum_;
    }

private:
    std::int64_t n_;
    int d_;
    int exponent_;
    Mass sum_;  // of each row
    std::vector<Mass> units_;
};

}  // namespace groundmetric
