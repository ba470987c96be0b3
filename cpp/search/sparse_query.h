// The nearest neighbors of sparse histograms: bounds, then a solve;
// point_search.h says which. What the costs between bins allow is a Ground:
//
//     Costs costs()      what computes the costs of a pair, as PointCosts does
//     double scale()     original cost = scale() * cost
//     double margin()    subtracted from every bound, for rounding; scaled
//     bool reduced()     common mass may stay
//     bool symmetric()   costs are the same in both directions
//     void bound(query, base, bounds)
//                        the first bounds, scaled, less the margin
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/kernels.h"
#include "base/parallel.h"
#include "search/dense_search.h"
#include "sparse/sparse_masses.h"
#include "transport/simplex.h"

namespace groundmetric {

// One query after the other, on one thread.
template <class Ground>
class alignas(128) RelaxedQuery {
public:
    std::int64_t n_solved = 0, n_stopped = 0, n_pivots = 0;

    RelaxedQuery(const RaggedMasses& base, const Ground& ground,
                 const Request& request, bool once)
        : base_(&base),
          ground_(&ground),
          request_(&request),
          once_(once),
          costs_(ground.costs()),
          n_neighbors_(static_cast<std::size_t>(request.n_neighbors)) {}

    std::int64_t n_candidates = 0;

    std::vector<Neighbor> run(const Support& query, double radius,
                              std::int64_t own, StopToken& stop) {
        query_ = query;
        own_ = own;
        costs_.start(query);
        best_.clear();
        limit_ = {radius, std::numeric_limits<std::int64_t>::max()};
        gather_candidates();
        while (!heap_.empty() && !is_beaten(heap_.front())) {
            stop.check();
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
                solve(candidate.index, stop);
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
        return limit_ <
               Neighbor{candidate.bound * ground_->scale(), candidate.index};
    }

    void gather_candidates() {
        ground_->bound(query_, *base_, bounds_);
        heap_.clear();
        const auto visit = [&](std::int64_t j) {
            if (once_ && is_found_from(j)) return;
            ++n_candidates;
            const Candidate candidate{bounds_[j], j};
            if (!is_beaten(candidate)) heap_.push_back(candidate);
        };
        request_->candidates.for_each(own_, base_->size(), visit);
        std::make_heap(heap_.begin(), heap_.end(), is_behind);
    }

    // Whether the pair of the query and j is that of j's query.
    bool is_found_from(std::int64_t j) const {
        const std::vector<double>& radii = request_->radii;
        return radii[j] > radii[own_] || (radii[j] == radii[own_] && j < own_);
    }

    // As in pairwise(): within the base, the smaller index first, if costs are
    // symmetric.
    void load(std::int64_t index) {
        const Support other = base_->row(index);
        const bool is_swapped = ground_->symmetric() && index < own_;
        set_margins(simplex_.problem, is_swapped ? other : query_,
                    is_swapped ? query_ : other, ground_->reduced());
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
        return std::max(sent, received) * base_->unit() - ground_->margin();
    }

    void solve(std::int64_t index, StopToken& stop) {
        const double unit = base_->unit();
        const double limit = limit_.distance / ground_->scale();
        const double above = std::abs(limit) * 1e-12 + ground_->margin();
        simplex_.ceiling = std::min(kHuge, (limit + above) / unit);
        simplex_.solve(stop);
        n_pivots += simplex_.n_pivots;
        ++(simplex_.is_above_ceiling ? n_stopped : n_solved);
        if (simplex_.is_above_ceiling) return;
        const int exponent = std::ilogb(unit) + std::ilogb(ground_->scale());
        keep({std::ldexp(simplex_.cost(), exponent), index});
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

    const RaggedMasses* base_;
    const Ground* ground_;
    const Request* request_;
    bool once_;
    typename Ground::Costs costs_;
    std::size_t n_neighbors_;
    Support query_{};
    int n_receiving_ = 0;    // bins of the loaded pair's second histogram
    std::int64_t own_ = -1;  // the query's index if it is of the base
    std::vector<Candidate> heap_;
    std::vector<Neighbor> best_;  // a heap, the worst on top
    Neighbor limit_{};            // the worst that is still wanted
    TransportSimplex simplex_;
    std::vector<double> bounds_, function_, nearest_;  // scratch
};

// The neighbors of all queries; the i-th is histogram first + i of the base, if
// there is such a one.
template <class Ground>
Neighborhoods find_relaxed(const RaggedMasses& queries,
                           const RaggedMasses& base, const Ground& ground,
                           std::int64_t first, const Request& request,
                           bool once, const Threading& threading) {
    const std::int64_t n = queries.size();
    std::vector<RelaxedQuery<Ground>> workers(
        static_cast<std::size_t>(n_workers(n, 1, threading.n_threads)),
        RelaxedQuery<Ground>(base, ground, request, once));
    std::vector<std::vector<Neighbor>> found(static_cast<std::size_t>(n));
    const Body body = [&](std::int64_t i, int worker, StopToken& stop) {
        found[i] = workers[worker].run(queries.row(i), request.radii[i],
                                       first + i, stop);
    };
    parallel_for(n, threading.n_threads, 1, threading.poll, body);
    Neighborhoods out;
    out.starts.assign(1, 0);
    for (std::vector<Neighbor>& neighbors : found) {
        out.neighbors.insert(out.neighbors.end(), neighbors.begin(),
                             neighbors.end());
        out.starts.push_back(static_cast<std::int64_t>(out.neighbors.size()));
    }
    for (const RelaxedQuery<Ground>& worker : workers) {
        out.counts.n_solved += worker.n_solved;
        out.counts.n_stopped += worker.n_stopped;
        out.counts.n_pivots += worker.n_pivots;
        out.counts.n_bounded +=
            worker.n_candidates - worker.n_solved - worker.n_stopped;
    }
    return out;
}

}  // namespace groundmetric
