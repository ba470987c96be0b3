#include "search/nearest_bins.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/kernels.h"
#include "base/point_kernels.h"

namespace groundmetric {
namespace {

// Half of |x|^2 where there is no x: far above all others, which are scaled.
constexpr float kFar = 1e30F;

}  // namespace

RoundedPoints::RoundedPoints(const Points& points)
    : n_coordinates_(points.n_coordinates()) {
    const int d = points.size(), s = n_coordinates_;
    std::vector<double> center(static_cast<std::size_t>(s));
    for (int p = 0; p < d; ++p)
        for (int k = 0; k < s; ++k) center[k] += points.point(p)[k] / d;
    coordinates_.reserve(static_cast<std::size_t>(d) * s);
    squares_.reserve(static_cast<std::size_t>(d));
    for (int p = 0; p < d; ++p) {
        double square = 0.0;
        for (int k = 0; k < s; ++k) {
            const auto x = static_cast<float>(points.point(p)[k] - center[k]);
            coordinates_.push_back(x);
            square += double{x} * x;
        }
        squares_.push_back(square);
    }
}

void NearestBins::start(const Support& query) {
    for (const std::int32_t bin : known_) nearest_[bin] = kUnknown;
    known_.clear();
    for (int p = 0; p < query_.size; ++p) place_[query_.bins[p]] = kNone;
    query_ = query;
    const int s = points_->n_coordinates();
    stride_ = padded_floats(query.size);
    packed_.assign(static_cast<std::size_t>(s) * stride_, 0.0F);
    half_squares_.assign(static_cast<std::size_t>(stride_), kFar);
    largest_square_ = 0.0;
    for (int p = 0; p < query.size; ++p) {
        const std::int32_t bin = query.bins[p];
        place_[bin] = p;
        for (int k = 0; k < s; ++k)
            packed_[static_cast<std::size_t>(k) * stride_ + p] =
                points_->point(bin)[k];
        half_squares_[p] = static_cast<float>(points_->square(bin) / 2.0);
        largest_square_ = std::max(largest_square_, points_->square(bin));
    }
}

// With a rounding unit of u = 2^-24, the rounding of s products and sums, and
// of coordinates, changes |x - y|^2 by less than (s + 8) u (|x|^2 + |y|^2), and
// what is too small for a float by less than s 2^-126; four times that is taken
// off. The rounding of the caller's bounds covers the rest.
double NearestBins::distance_from(std::int32_t bin, float least) const {
    const double s = points_->n_coordinates();
    const double own = points_->square(bin);
    const double rounding =
        0x1p-22 * (s + 8.0) * (own + largest_square_) + s * 0x1p-124;
    return std::sqrt(std::max(0.0, own + 2.0 * double{least} - rounding));
}

void NearestBins::find(const std::int32_t* bins, int n) {
    wanted_.clear();
    from_.clear();
    for (int k = 0; k < n; ++k) {
        const std::int32_t bin = bins[k];
        if (nearest_[bin] != kUnknown) continue;
        known_.push_back(bin);
        if (place_[bin] != kNone) {
            find_beside(bin, place_[bin]);
            continue;
        }
        wanted_.push_back(bin);
        from_.push_back(points_->point(bin));
    }
    least_.resize(wanted_.size());
    point_kernels().nearest(from_.data(), static_cast<int>(from_.size()),
                            packed_.data(), half_squares_.data(), stride_,
                            points_->n_coordinates(), least_.data());
    for (std::size_t k = 0; k < wanted_.size(); ++k)
        nearest_[wanted_[k]] = distance_from(wanted_[k], least_[k]);
}

// The same for a bin of the query, itself excluded.
void NearestBins::find_beside(std::int32_t bin, int place) {
    if (query_.size == 1) {  // what c has more there is nothing
        nearest_[bin] = 0.0;
        return;
    }
    const float* point = points_->point(bin);
    const float before = std::exchange(half_squares_[place], kFar);
    float least = 0.0F;
    point_kernels().nearest(&point, 1, packed_.data(), half_squares_.data(),
                            stride_, points_->n_coordinates(), &least);
    half_squares_[place] = before;
    nearest_[bin] = distance_from(bin, least);
}

double NearestBins::received(const Support& c) {
    find(c.bins, c.size);
    double sum = 0.0;
    for (int q = 0; q < c.size; ++q) {
        const std::int32_t bin = c.bins[q], own = place_[bin];
        const Mass more =
            own == kNone ? c.masses[q] : c.masses[q] - query_.masses[own];
        if (more > 0) sum += to_double(more) * nearest_[bin];
    }
    return sum;
}

}  // namespace groundmetric
