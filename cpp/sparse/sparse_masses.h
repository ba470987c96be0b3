// Sparse histograms as integer masses: only the bins that hold any.
#pragma once

#include <cstdint>
#include <vector>

#include "base/masses.h"
#include "transport/problem.h"

namespace groundmetric {

// The non-empty bins of one histogram, rising, and their masses.
struct Support {
    const std::int32_t* bins;
    const Mass* masses;
    int size;
};

class SparseMasses {
public:
    // n histograms on d bins in compressed rows: entries starts[i] to
    // starts[i + 1] are those of row i, with rising bins and positive values.
    // Scaled and rounded as in Masses, to the same integers.
    SparseMasses(const double* values, const std::int32_t* bins,
                 const std::int64_t* starts, std::int64_t n, int d,
                 double total);

    Support row(std::int64_t i) const {
        return {bins_.data() + starts_[i], units_.data() + starts_[i],
                static_cast<int>(starts_[i + 1] - starts_[i])};
    }
    std::int64_t size() const {
        return static_cast<std::int64_t>(starts_.size()) - 1;
    }
    int n_bins() const { return n_bins_; }
    double unit() const { return unit_; }
    // Whether plans between the rows of both exist.
    bool has_mass_of(const SparseMasses& other) const {
        return unit_ == other.unit_ && sum_ == other.sum_;
    }

private:
    int n_bins_;
    double unit_;
    Mass sum_;  // of each row
    std::vector<std::int32_t> bins_;
    std::vector<std::int64_t> starts_;
    std::vector<Mass> units_;
};

// Sets the margins of a pair. problem.rows and problem.columns are positions in
// r and c. If `reduced`, common mass stays.
void set_margins(Problem& problem, const Support& r, const Support& c,
                 bool reduced);

}  // namespace groundmetric
