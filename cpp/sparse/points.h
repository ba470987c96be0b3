// Bins with coordinates: the cost between two is their Euclidean distance,
// computed for the supports of each pair; there is no matrix of all of them.
//
// One histogram is compared with many, so the distances from its bins to each
// other bin are kept while it stays: words that occur in many documents are
// computed once for each row, not once for each pair.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "sparse/sparse_masses.h"
#include "transport/problem.h"

namespace groundmetric {

bool are_finite(const double* values, std::size_t n);

class Points {
public:
    // Copies d points with s finite coordinates, scaled by a power of two such
    // that the largest is less than 1 in absolute value.
    Points(const double* coordinates, int d, int s);

    int size() const { return size_; }
    int n_coordinates() const { return n_coordinates_; }
    const double* point(int p) const {
        return scaled_.get() + static_cast<std::size_t>(p) * n_coordinates_;
    }
    double scale() const { return scale_; }
    // As in CostMatrix.
    double unscaled(double cost, double unit) const {
        return std::ldexp(cost, std::ilogb(unit) + std::ilogb(scale_));
    }

private:
    int size_, n_coordinates_;
    double scale_;
    std::unique_ptr<double[]> scaled_;
};

// The costs of problems that have one histogram in common.
class PointCosts {
public:
    explicit PointCosts(const Points& points)
        : points_(&points),
          slot_(static_cast<std::size_t>(points.size()), kNone) {}

    // Fixes the common histogram, and forgets the one before.
    void start(const Support& fixed);
    // Finds the distances to the bins of some of these histograms, of the first
    // at least, and returns the first for which it did not: many bins at a
    // time take half as long.
    std::int64_t expect(const SparseMasses& others, std::int64_t begin,
                        std::int64_t end);
    // Sets the costs of a problem between the fixed histogram and `other`,
    // whose margins are set; the fixed one is at the receiving end if
    // `is_swapped`.
    void set_costs(Problem& problem, const Support& other, bool is_swapped);

private:
    // Kept distances take at most this, or what one pair needs.
    static constexpr std::size_t kMostBytes = std::size_t{1} << 25;
    static constexpr std::size_t kAheadBytes = std::size_t{1} << 21;
    static constexpr std::int32_t kNone = -1;
    void compute(const std::int32_t* bins, std::int64_t n);
    // What one bin needs.
    std::size_t n_bytes() const {
        return static_cast<std::size_t>(std::max(stride_, 1)) * sizeof(double);
    }
    void forget();
    void fill_rows(Problem& problem, const Support& other) const;
    void fill_columns(Problem& problem, const Support& other) const;
    const double* distances_to(std::int32_t bin) const {
        return kept_.data() + static_cast<std::size_t>(slot_[bin]) * stride_;
    }

    const Points* points_;
    int stride_ = 0;
    std::vector<double> packed_;       // coordinates x fixed bins
    std::vector<std::int32_t> slot_;   // of each bin in kept_
    std::vector<std::int32_t> slots_;  // the bins that have one
    std::vector<double> kept_;
    std::vector<const double*> from_;  // scratch
    std::vector<double*> to_;
};

}  // namespace groundmetric
