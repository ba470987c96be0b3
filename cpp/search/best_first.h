// What the queries of both searches share: candidates in a heap, ordered by
// lower bounds on their distances, and the nearest ones found so far.
//
// A query takes the first candidate, raises its bound or, if that is not
// possible, solves the pair. It ends when no candidate that is left can be one
// of the nearest. A Query has
//
//     bool is_beaten(candidate)    it cannot be one of the nearest
//     bool are_all_beaten(first)   nor can any behind it; may be false anyway
//     bool raise(candidate)        updates the bound; false if a solve is due
//     void solve(candidate, stop)  solves the pair, and may keep() it
//
// and a Candidate has an `index` and is_behind(other), the heap's order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/kernels.h"
#include "base/parallel.h"
#include "search/neighborhoods.h"
#include "transport/simplex.h"

namespace groundmetric {

template <class Query, class Candidate>
class BestFirst {
public:
    SolveCounts counts;  // of all runs

protected:
    static constexpr std::int64_t kLast =
        std::numeric_limits<std::int64_t>::max();

    explicit BestFirst(const Request& request)
        : n_neighbors_(static_cast<std::size_t>(request.n_neighbors)) {}

    // Forgets the query before.
    void start(double radius) {
        best_.clear();
        limit_ = {radius, kLast};
    }

    // Calls consider(j), which may offer() a candidate, for all of n histograms
    // that are compared with the query: number `own` of them, or, if that is
    // negative, none of them.
    template <class Consider>
    void gather(const Candidates& candidates, std::int64_t own, std::int64_t n,
                const Consider& consider) {
        heap_.clear();
        if (own >= 0)
            candidates.for_each(own, n, consider);
        else
            for (std::int64_t j = 0; j < n; ++j) consider(j);
        std::make_heap(heap_.begin(), heap_.end(), is_behind);
    }

    void offer(const Candidate& candidate) {
        if (!query().is_beaten(candidate)) heap_.push_back(candidate);
    }

    // The nearest candidates, sorted.
    std::vector<Neighbor> find_nearest(StopToken& stop) {
        while (!heap_.empty() && !query().are_all_beaten(heap_.front())) {
            stop.check();
            std::pop_heap(heap_.begin(), heap_.end(), is_behind);
            Candidate candidate = heap_.back();
            heap_.pop_back();
            const bool is_raised =
                !query().is_beaten(candidate) && query().raise(candidate);
            if (query().is_beaten(candidate)) continue;
            if (is_raised) {
                heap_.push_back(candidate);
                std::push_heap(heap_.begin(), heap_.end(), is_behind);
            } else {
                query().solve(candidate, stop);
            }
        }
        std::sort_heap(best_.begin(), best_.end());
        return std::move(best_);
    }

    // Solves the problem of simplex_; false if it stopped since the optimum,
    // scaled and in units of mass, exceeds the ceiling.
    bool solve_up_to(double ceiling, StopToken& stop) {
        simplex_.ceiling = std::min(kHuge, ceiling);
        simplex_.solve(stop);
        counts.n_pivots += simplex_.n_pivots;
        ++(simplex_.is_above_ceiling ? counts.n_stopped : counts.n_solved);
        return !simplex_.is_above_ceiling;
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

    Neighbor limit_{};  // the worst that is still wanted
    TransportSimplex simplex_;

private:
    static bool is_behind(const Candidate& a, const Candidate& b) {
        return a.is_behind(b);
    }
    Query& query() { return static_cast<Query&>(*this); }

    std::size_t n_neighbors_;
    std::vector<Candidate> heap_;
    std::vector<Neighbor> best_;  // a heap, the worst on top
};

}  // namespace groundmetric
