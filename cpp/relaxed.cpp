#include "relaxed.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels.h"
#include "point_kernels.h"
#include "simplex.h"

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

// One query after the other, on one thread.
class alignas(128) PointQuery {
public:
    std::int64_t n_solved = 0, n_stopped = 0, n_pivots = 0;

    PointQuery(const PointSearch& search, const Request& request, bool once)
        : search_(&search),
          request_(&request),
          once_(once),
          costs_(search.points()),
          n_neighbors_(static_cast<std::size_t>(request.n_neighbors)) {
        // Subtracted from every bound: a rounding for each bin and coordinate,
        // of costs and masses of the order of 1.
        margin_ = 0x1p-36 * std::sqrt(search.points().n_coordinates());
    }

    std::int64_t n_candidates = 0;

    std::vector<Neighbor> run(const Support& query, double radius,
                              std::int64_t own, Pulse& pulse) {
        query_ = query;
        own_ = own;
        costs_.start(query);
        best_.clear();
        limit_ = {radius, std::numeric_limits<std::int64_t>::max()};
        gather_candidates();
        while (!heap_.empty() && !is_beaten(heap_.front())) {
            pulse.beat();
            std::pop_heap(heap_.begin(), heap_.end(), is_behind);
            Candidate candidate = heap_.back();
            heap_.pop_back();
            load(candidate.index);
            if (!candidate.is_relaxed && std::isfinite(limit_.distance)) {
                candidate.bound = std::max(candidate.bound, relaxed_bound());
                candidate.is_relaxed = true;
                heap_.push_back(candidate);
                std::push_heap(heap_.begin(), heap_.end(), is_behind);
            } else {
                solve(candidate.index, pulse);
            }
        }
        std::sort_heap(best_.begin(), best_.end());
        return std::move(best_);
    }

private:
    struct Candidate {
        double bound;  // scaled
        std::int64_t index;
        bool is_relaxed = false;
    };
    // Later in the heap's order.
    static bool is_behind(const Candidate& a, const Candidate& b) {
        return a.bound > b.bound || (a.bound == b.bound && a.index > b.index);
    }
    bool is_beaten(const Candidate& candidate) const {
        return limit_ < Neighbor{candidate.bound * search_->points().scale(),
                                 candidate.index};
    }

    void gather_candidates() {
        const Points& points = search_->points();
        const std::vector<double> center =
            centroid(query_, search_->base().unit(), points);
        bounds_.resize(static_cast<std::size_t>(search_->width()));
        const double* from = center.data();
        double* to = bounds_.data();
        point_kernels().distances(&from, 1, search_->centroids().data(),
                                  search_->width(), points.n_coordinates(),
                                  &to);
        heap_.clear();
        const auto visit = [&](std::int64_t j) {
            if (once_ && is_found_from(j)) return;
            ++n_candidates;
            const Candidate candidate{std::max(0.0, bounds_[j] - margin_), j};
            if (!is_beaten(candidate)) heap_.push_back(candidate);
        };
        request_->candidates.for_each(own_, search_->base().size(), visit);
        std::make_heap(heap_.begin(), heap_.end(), is_behind);
    }

    // Whether the pair of the query and j is that of j's query.
    bool is_found_from(std::int64_t j) const {
        const std::vector<double>& radii = request_->radii;
        return radii[j] > radii[own_] || (radii[j] == radii[own_] && j < own_);
    }

    // As in pairwise(): within the base, the smaller index first.
    void load(std::int64_t index) {
        const Support other = search_->base().row(index);
        const bool is_swapped = own_ >= 0 && index < own_;
        set_margins(simplex_.problem, is_swapped ? other : query_,
                    is_swapped ? query_ : other, true);
        costs_.set_costs(simplex_.problem, other, is_swapped);
        n_receiving_ = is_swapped ? query_.size : other.size;
    }

    double relaxed_bound() {
        Problem& problem = simplex_.problem;
        if (problem.n_nodes() == 0) return 0.0;
        // bound_by() takes a function of the receiving histogram's bins.
        function_.assign(static_cast<std::size_t>(n_receiving_), 0.0);
        const double sent = simplex_.bound_by(function_.data(), 1.0);
        nearest_.assign(static_cast<std::size_t>(problem.stride), kHuge);
        for (int i = 0; i < problem.n_rows(); ++i) {
            const double* row = problem.cost_row(i);
            for (int j = 0; j < problem.stride; ++j)
                nearest_[j] = std::min(nearest_[j], row[j]);
        }
        for (int j = 0; j < problem.n_columns(); ++j)
            function_[problem.columns[j]] = nearest_[j];
        const double received = simplex_.bound_by(function_.data(), -1.0);
        return std::max(sent, received) * search_->base().unit() - margin_;
    }

    void solve(std::int64_t index, Pulse& pulse) {
        const double unit = search_->base().unit();
        const double limit = limit_.distance / search_->points().scale();
        simplex_.ceiling =
            std::min(kHuge, (limit * (1 + 1e-12) + margin_) / unit);
        simplex_.solve(pulse);
        n_pivots += simplex_.n_pivots;
        ++(simplex_.is_above_ceiling ? n_stopped : n_solved);
        if (simplex_.is_above_ceiling) return;
        keep({search_->points().unscaled(simplex_.cost(), unit), index});
    }

    void keep(Neighbor found) {
        if (limit_ < found) return;
        best_.push_back(std::move(found));
        std::push_heap(best_.begin(), best_.end());
        if (best_.size() > n_neighbors_) {
            std::pop_heap(best_.begin(), best_.end());
            best_.pop_back();
        }
        if (best_.size() == n_neighbors_)
            limit_ = {best_.front().distance, best_.front().index};
    }

    const PointSearch* search_;
    const Request* request_;
    bool once_;
    PointCosts costs_;
    std::size_t n_neighbors_;
    double margin_;
    Support query_{};
    int n_receiving_ = 0;    // bins of the loaded pair's second histogram
    std::int64_t own_ = -1;  // the query's index in the base, or -1
    std::vector<Candidate> heap_;
    std::vector<Neighbor> best_;  // a heap, the worst on top
    Neighbor limit_{};            // the worst that is still wanted
    TransportSimplex simplex_;
    std::vector<double> bounds_, function_, nearest_;  // scratch
};

}  // namespace

PointSearch::PointSearch(std::shared_ptr<const RaggedMasses> base,
                         std::shared_ptr<const Points> points)
    : base_(std::move(base)),
      points_(std::move(points)),
      width_(padded(static_cast<int>(base_->size()))),
      centroids_(static_cast<std::size_t>(points_->n_coordinates()) * width_) {
    for (std::int64_t i = 0; i < base_->size(); ++i) {
        const std::vector<double> center =
            centroid(base_->row(i), base_->unit(), *points_);
        for (std::size_t k = 0; k < center.size(); ++k)
            centroids_[k * width_ + i] = center[k];
    }
}

Neighborhoods PointSearch::find(const RaggedMasses* queries, std::int64_t first,
                                const Request& request, bool once,
                                const Threading& threading) const {
    const RaggedMasses& asking = queries == nullptr ? *base_ : *queries;
    if (queries == nullptr) first = 0;
    const bool among_base = first >= 0;
    const std::int64_t n = asking.size();
    std::vector<PointQuery> workers(
        static_cast<std::size_t>(n_workers(n, 1, threading.n_threads)),
        PointQuery(*this, request, once));
    std::vector<std::vector<Neighbor>> found(static_cast<std::size_t>(n));
    const Body body = [&](std::int64_t i, int worker, Pulse& pulse) {
        found[i] = workers[worker].run(asking.row(i), request.radii[i],
                                       among_base ? first + i : -1, pulse);
    };
    parallel_for(n, threading.n_threads, 1, threading.poll, body);
    Neighborhoods out;
    out.starts.assign(1, 0);
    for (std::vector<Neighbor>& neighbors : found) {
        out.neighbors.insert(out.neighbors.end(), neighbors.begin(),
                             neighbors.end());
        out.starts.push_back(static_cast<std::int64_t>(out.neighbors.size()));
    }
    for (const PointQuery& worker : workers) {
        out.tally.n_solved += worker.n_solved;
        out.tally.n_stopped += worker.n_stopped;
        out.tally.n_pivots += worker.n_pivots;
        out.tally.n_bounded +=
            worker.n_candidates - worker.n_solved - worker.n_stopped;
    }
    return out;
}

}  // namespace groundmetric
