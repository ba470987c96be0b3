// The nearest neighbors of sparse histograms: bounds, then a solve;
// point_search.h says which. A Model has what depends on the costs:
//
//     Costs costs()      what computes the costs of a pair, as PointCosts does
//     double scale()     original cost = scale() * cost
//     double margin()    subtracted from every bound, for rounding; scaled
//     bool reduced()     common mass may stay
//     bool symmetric()   costs are the same in both directions
//     void bound(query, base, bounds)
//                        the first bounds, scaled, less the margin
//     Nearest nearest()  what bounds a pair by the nearest bins, as NearestBins
//                        does; used if kHasNearest
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/kernels.h"
#include "base/parallel.h"
#include "search/best_first.h"
#include "sparse/sparse_masses.h"

namespace groundmetric {

struct SparseCandidate {
    double bound;  // scaled
    std::int64_t index;
    int n_raised = 0;
    // Later in the heap's order.
    bool is_behind(const SparseCandidate& other) const {
        return bound > other.bound ||
               (bound == other.bound && index > other.index);
    }
};

// One query after the other, on one thread.
template <class Model>
class alignas(128) SparseQuery
    : public BestFirst<SparseQuery<Model>, SparseCandidate> {
public:
    std::int64_t n_candidates = 0;

    SparseQuery(const SparseMasses& base, const Model& model,
                const Request& request, bool once)
        : Base(request),
          base_(&base),
          model_(&model),
          request_(&request),
          once_(once),
          costs_(model.costs()),
          nearest_(model.nearest()) {}

    std::vector<Neighbor> run(const Support& query, double radius,
                              std::int64_t own, StopToken& stop) {
        query_ = query;
        own_ = own;
        costs_.start(query);
        if constexpr (Model::kHasNearest) nearest_.start(query);
        this->start(radius);
        gather_candidates();
        return this->find_nearest(stop);
    }

private:
    using Candidate = SparseCandidate;
    using Base = BestFirst<SparseQuery, SparseCandidate>;
    friend Base;
    using Base::limit_;
    using Base::simplex_;

    bool is_beaten(const Candidate& candidate) const {
        return limit_ <
               Neighbor{candidate.bound * model_->scale(), candidate.index};
    }
    bool are_all_beaten(const Candidate& first) const {
        return is_beaten(first);
    }

    void gather_candidates() {
        model_->bound(query_, *base_, bounds_);
        const auto consider = [&](std::int64_t j) {
            if (once_ && is_found_from(j)) return;
            ++n_candidates;
            this->offer({bounds_[j], j});
        };
        this->gather(request_->candidates, own_, base_->size(), consider);
    }
    // Whether j's query finds the pair of this query and j.
    bool is_found_from(std::int64_t j) const {
        const std::vector<double>& radii = request_->radii;
        return radii[j] > radii[own_] || (radii[j] == radii[own_] && j < own_);
    }

    // As in pairwise(): within the base, the smaller index first, if costs are
    // symmetric.
    void load(std::int64_t index) {
        const Support other = base_->row(index);
        const bool is_swapped = model_->symmetric() && index < own_;
        set_margins(simplex_.problem, is_swapped ? other : query_,
                    is_swapped ? query_ : other, model_->reduced());
        costs_.set_costs(simplex_.problem, other, is_swapped);
        n_receiving_ = is_swapped ? query_.size : other.size;
    }

    // The cheaper bound first. In the order of bounds, a pair that is solved
    // early most probably is near, so this pays even without a limit.
    bool raise(Candidate& candidate) {
        constexpr int kMost = Model::kHasNearest ? 2 : 1;
        if (candidate.n_raised == kMost) return false;
        double bound = 0.0;
        if constexpr (Model::kHasNearest)
            if (candidate.n_raised == 0)
                bound = nearest_.received(base_->row(candidate.index)) *
                            base_->unit() -
                        model_->margin();
        if (++candidate.n_raised == kMost) {
            load(candidate.index);
            bound = relaxed_bound();
        }
        candidate.bound = std::max(candidate.bound, bound);
        return true;
    }

    double relaxed_bound() {
        Problem& problem = simplex_.problem;
        if (problem.n_nodes() == 0) return 0.0;
        // bound_by() takes a function of the receiving histogram's bins.
        function_.assign(static_cast<std::size_t>(n_receiving_), 0.0);
        const double sent = simplex_.bound_by(function_.data(), 1.0);
        minima_.assign(static_cast<std::size_t>(problem.stride), kHuge);
        for (int i = 0; i < problem.n_rows(); ++i) {
            const double* row = problem.cost_row(i);
            for (int j = 0; j < problem.stride; ++j)
                minima_[j] = std::min(minima_[j], row[j]);
        }
        for (int j = 0; j < problem.n_columns(); ++j)
            function_[problem.columns[j]] = minima_[j];
        const double received = simplex_.bound_by(function_.data(), -1.0);
        return std::max(sent, received) * base_->unit() - model_->margin();
    }

    void solve(const Candidate& candidate, StopToken& stop) {
        load(candidate.index);
        const double unit = base_->unit();
        const double limit = limit_.distance / model_->scale();
        const double above = std::abs(limit) * 1e-12 + model_->margin();
        if (!this->solve_up_to((limit + above) / unit, stop)) return;
        const int exponent = std::ilogb(unit) + std::ilogb(model_->scale());
        this->keep({std::ldexp(simplex_.cost(), exponent), candidate.index});
    }

    const SparseMasses* base_;
    const Model* model_;
    const Request* request_;
    bool once_;
    typename Model::Costs costs_;
    typename Model::Nearest nearest_;
    Support query_{};
    int n_receiving_ = 0;    // bins of the loaded pair's second histogram
    std::int64_t own_ = -1;  // the query's index if it is of the base
    std::vector<double> bounds_, function_, minima_;  // scratch
};

// The neighbors of all queries; the i-th is histogram first + i of the base, if
// that exists.
template <class Model>
Neighborhoods find_sparse(const SparseMasses& queries, const SparseMasses& base,
                          const Model& model, std::int64_t first,
                          const Request& request, bool once,
                          const Threading& threading) {
    const std::int64_t n = queries.size();
    std::vector<SparseQuery<Model>> workers(
        static_cast<std::size_t>(n_workers(n, 1, threading.n_threads)),
        SparseQuery<Model>(base, model, request, once));
    std::vector<std::vector<Neighbor>> found(static_cast<std::size_t>(n));
    const Body body = [&](std::int64_t i, int worker, StopToken& stop) {
        found[i] = workers[worker].run(queries.row(i), request.radii[i],
                                       first + i, stop);
    };
    parallel_for(n, threading.n_threads, 1, threading.poll, body);
    Neighborhoods out(found);
    std::int64_t n_candidates = 0;
    for (const SparseQuery<Model>& worker : workers) {
        out.counts += worker.counts;
        n_candidates += worker.n_candidates;
    }
    out.counts.n_bounded =
        n_candidates - out.counts.n_solved - out.counts.n_stopped;
    return out;
}

}  // namespace groundmetric
