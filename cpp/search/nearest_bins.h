// A lower bound of Euclidean EMDs that takes a number for each bin: what c has
// more than the query r in a bin q comes from the nearest bin of r, q excluded,
//
//     d(r, c)  >=  sum_q (c - r)+_q  min_{p != q, r_p > 0} |x_p - x_q|
//
// (Kusner et al. 2015; Atasu & Mittelholzer 2019). For all histograms together
// that is one product of matrices. It is computed in single precision, from
// |x|^2 + |y|^2 - 2 x'y, and lowered by more than its rounding.
#pragma once

#include <cstdint>
#include <vector>

#include "sparse/points.h"
#include "sparse/sparse_masses.h"

namespace groundmetric {

// Points in single precision, relative to their center, so that a common offset
// takes no digits. Scaled as `points`.
class RoundedPoints {
public:
    explicit RoundedPoints(const Points& points);

    int size() const { return static_cast<int>(squares_.size()); }
    int n_coordinates() const { return n_coordinates_; }
    const float* point(std::int32_t p) const {
        return coordinates_.data() +
               static_cast<std::size_t>(p) * n_coordinates_;
    }
    // |x_p|^2.
    double square(std::int32_t p) const { return squares_[p]; }

private:
    int n_coordinates_;
    std::vector<float> coordinates_;
    std::vector<double> squares_;
};

// The bounds of one query at a time.
class NearestBins {
public:
    // Keeps a reference.
    explicit NearestBins(const RoundedPoints& points)
        : points_(&points),
          nearest_(static_cast<std::size_t>(points.size()), kUnknown),
          place_(nearest_.size(), kNone) {}

    void start(const Support& query);
    // The bound for c, scaled and in units of mass.
    double received(const Support& c);

private:
    static constexpr double kUnknown = -1.0;
    static constexpr std::int32_t kNone = -1;
    void find(const std::int32_t* bins, int n);
    void find_beside(std::int32_t bin, int place);
    double distance_from(std::int32_t bin, float least) const;

    const RoundedPoints* points_;
    Support query_{};
    int stride_ = 0;
    double largest_square_ = 0.0;       // of the query's bins
    std::vector<float> packed_;         // coordinates x bins of the query
    std::vector<float> half_squares_;   // of these; large where there is none
    std::vector<double> nearest_;       // of each bin, at least
    std::vector<std::int32_t> place_;   // of each bin in the query
    std::vector<std::int32_t> known_;   // bins whose nearest is known
    std::vector<std::int32_t> wanted_;  // scratch
    std::vector<const float*> from_;
    std::vector<float> least_;
};

}  // namespace groundmetric
