#include "search/point_search.h"

#include <algorithm>
#include <cmath>

#include "base/kernels.h"
#include "base/point_kernels.h"
#include "search/sparse_query.h"

namespace groundmetric {
namespace {

// Scaled, of mass 1.
std::vector<double> centroid(const Support& r, double unit,
                             const Points& points) {
    const int s = points.n_coordinates();
    std::vector<double> sum(static_cast<std::size_t>(s));
    for (int p = 0; p < r.size; ++p) {
        const double mass = to_double(r.masses[p]) * unit;
        const double* point = points.point(r.bins[p]);
        for (int k = 0; k < s; ++k) sum[k] += mass * point[k];
    }
    return sum;
}

// Euclidean distances: a metric, and centroids bound the EMD.
class PointModel {
public:
    using Costs = PointCosts;
    using Nearest = NearestBins;
    static constexpr bool kHasNearest = true;

    explicit PointModel(const PointSearch& search)
        : search_(&search),
          // A rounding for each bin and coordinate, of costs and masses of the
          // order of 1.
          margin_(0x1p-36 * std::sqrt(search.points().n_coordinates())) {}

    Costs costs() const { return Costs(search_->points()); }
    Nearest nearest() const { return Nearest(search_->rounded()); }
    double scale() const { return search_->points().scale(); }
    double margin() const { return margin_; }
    static constexpr bool reduced() { return true; }
    static constexpr bool symmetric() { return true; }
    void bound(const Support& query, const SparseMasses& base,
               std::vector<double>& bounds) const {
        const Points& points = search_->points();
        const std::vector<double> center = centroid(query, base.unit(), points);
        bounds.resize(static_cast<std::size_t>(search_->width()));
        const double* from = center.data();
        double* to = bounds.data();
        point_kernels().distances(&from, 1, search_->centroids().data(),
                                  search_->width(), points.n_coordinates(),
                                  &to);
        for (double& bound : bounds) bound = std::max(0.0, bound - margin_);
    }

private:
    const PointSearch* search_;
    double margin_;
};

// Any costs: bounds are the relaxed ones alone.
class SparseModel {
public:
    using Costs = SparseCosts;
    struct Nearest {};
    static constexpr bool kHasNearest = false;

    SparseModel(const ListedCosts& costs, const SparseOptions& options)
        : costs_(&costs), options_(options) {}

    Costs costs() const { return Costs(*costs_); }
    static Nearest nearest() { return {}; }
    double scale() const { return costs_->scale(); }
    double margin() const { return 0x1p-36 * costs_->matrix.largest(); }
    bool reduced() const { return options_.reduced; }
    bool symmetric() const { return options_.symmetric; }
    void bound(const Support&, const SparseMasses& base,
               std::vector<double>& bounds) const {
        bounds.assign(static_cast<std::size_t>(base.size()), -kHuge);
    }

private:
    const ListedCosts* costs_;
    SparseOptions options_;
};

}  // namespace

PointSearch::PointSearch(std::shared_ptr<const SparseMasses> base,
                         std::shared_ptr<const Points> points)
    : base_(std::move(base)),
      points_(std::move(points)),
      rounded_(*points_),
      width_(padded(static_cast<int>(base_->size()))),
      centroids_(static_cast<std::size_t>(points_->n_coordinates()) * width_) {
    for (std::int64_t i = 0; i < base_->size(); ++i) {
        const std::vector<double> center =
            centroid(base_->row(i), base_->unit(), *points_);
        for (std::size_t k = 0; k < center.size(); ++k)
            centroids_[k * width_ + i] = center[k];
    }
}

Neighborhoods PointSearch::find(const SparseMasses* queries, std::int64_t first,
                                const Request& request, bool once,
                                const Threading& threading) const {
    const SparseMasses& asking = queries == nullptr ? *base_ : *queries;
    if (queries == nullptr) first = 0;
    if (first < 0) first = -asking.size();
    return find_sparse(asking, *base_, PointModel(*this), first, request, once,
                       threading);
}

Neighborhoods nearest_sparse(const SparseMasses& queries,
                             const SparseMasses& base, const ListedCosts& costs,
                             const SparseOptions& options, std::int64_t first,
                             const Request& request,
                             const Threading& threading) {
    return find_sparse(queries, base, SparseModel(costs, options), first,
                       request, false, threading);
}

}  // namespace groundmetric
