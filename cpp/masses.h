// Histograms as integer masses.
//
// The simplex adds and subtracts masses and compares them for equality. On
// integers it does so exactly: flows never drift, ties are ties, and mass that
// two histograms share cancels to zero. One unit of mass is a power of two,
// about 2^-61 of a histogram, so that doubles above 1/512 of the total convert
// without any rounding, and counts give plans of whole numbers.
#pragma once

#include <cstdint>
#include <vector>

namespace groundmetric {

using Mass = std::int64_t;

// What has to be known to judge histograms, in one pass. A sum is finite only
// if all entries are.
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
    // The mass of one unit.
    double unit() const { return unit_; }

private:
    std::int64_t n_;
    int d_;
    double unit_;
    std::vector<Mass> units_;
};

}  // namespace groundmetric
