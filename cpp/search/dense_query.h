// One query of a search among dense histograms.
//
// Lower bounds of d_M(q, x) rule out almost all x. From the cheapest to the
// most expensive, for a metric M:
//
//     one-sided   1/2 (sum_p w_p |q_p - x_p| + |w'(q - x)|),  w_p = the least
//                 M_pp', p' != p: mass that leaves or enters p travels this far
//     Lipschitz   |f'(q - x)|, f the potentials of an earlier pair (q, x')
//     raised      the best of these f on the bins of the pair: u_i = min_j C_ij
//                 + f_j, v_j = min_i C_ij - u_i; then u'(q - x)+ + v'(x - q)+
//     stopped     what the simplex has proved when it exceeds the ceiling
//
// A query always takes the candidate with the smallest bound, and updates its
// next bound or, if there is none left, solves it. It ends when the smallest
// bound exceeds the k-th best distance.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "batch/pairwise.h"
#include "search/best_first.h"
#include "search/dense_search.h"

namespace groundmetric {

// What the query at one end of a pair learned, for the query at the other end.
struct Message {
    std::int64_t index;  // of the other end; once passed on, of the sender
    double value;        // the distance if solved, otherwise a scaled bound
    bool is_solved;
    KeptTree tree;
};

// Shared by the queries of one call.
struct SearchCall {
    const Masses* queries;
    const Request& request;
    bool among_base;
    bool each_once;  // only its first end handles a pair of queries
    bool reduced;    // common mass stays
    std::atomic<std::size_t> n_tree_bytes{0};  // kept so far

    bool is_query(std::int64_t j) const {
        return among_base && j >= request.first && j < request.end;
    }
};

struct DenseCandidate {
    static constexpr int kNone = -1;
    double bound;
    std::int64_t index;
    bool is_hinted = false;
    bool is_known = false;  // tried from its other end
    int n_seen = 0;         // functions tried on it
    int best = kNone;       // of these
    int raised = kNone;
    double gap = 0.0;  // f'(q - x), f the best
    // Later in the heap's order.
    bool is_behind(const DenseCandidate& other) const {
        if (is_hinted != other.is_hinted) return other.is_hinted;
        return bound > other.bound ||
               (bound == other.bound && index > other.index);
    }
};

class alignas(128) DenseQuery : public BestFirst<DenseQuery, DenseCandidate> {
public:
    DenseQuery(const DenseSearch& search, SearchCall& call);

    // The neighbors of query i, given the messages of other queries.
    std::vector<Neighbor> run(std::int64_t i,
                              const std::vector<Message>& messages,
                              StopToken& stop);
    // The pairs that the last run tried to solve, for their other ends.
    std::vector<Message> attempts;
    // Of all runs. A pair counts for both ends if one of them is not a query.
    std::int64_t n_candidate_ends = 0;
    std::int64_t n_again = 0;  // pairs that the other end had tried before

private:
    using Candidate = DenseCandidate;
    friend class BestFirst<DenseQuery, DenseCandidate>;
    // Functions of the nearest pairs come first and are the most useful; beyond
    // this number they cost more than they save.
    static constexpr int kMostFunctions = 128;
    // Beyond this, trees are not kept but solved again when needed.
    static constexpr std::size_t kMostTreeBytes = std::size_t{1} << 28;
    // The worst neighbor that this candidate still has to beat.
    Neighbor limit_of(const Candidate& candidate) const;
    bool is_beaten(const Candidate& candidate) const {
        return limit_of(candidate) <
               Neighbor{candidate.bound * scale_, candidate.index};
    }
    // With one limit for all, the heap's order is that of the bounds.
    bool are_all_beaten(const Candidate& first) const {
        return !call_.each_once && !first.is_hinted && is_beaten(first);
    }
    int n_functions() const {
        return static_cast<int>(functions_.size() / query_.size());
    }
    const double* function(int k) const {
        return functions_.data() +
               static_cast<std::size_t>(k) * search_.width();
    }

    void set_messages(const std::vector<Message>& messages, bool is_over);
    void gather_candidates(const std::vector<Message>& messages);
    void take_over(const std::vector<Message>& messages, StopToken& stop);
    void load(std::int64_t index);
    bool raise(Candidate& candidate);
    void bound_by_functions(Candidate& candidate);
    void bound_by_raised_function(Candidate& candidate);
    void solve(const Candidate& candidate, StopToken& stop);
    KeptTree kept_tree();
    void add_functions(StopToken& stop);
    void add_function(std::vector<double> f);

    const DenseSearch& search_;
    SearchCall& call_;
    const double scale_;
    const double margin_;

    std::int64_t i_ = 0;
    double radius_ = 0.0;
    std::vector<double> query_;
    std::vector<double> functions_;
    std::vector<std::int32_t> message_of_;  // message number, by sender
    const Mass *left_ = nullptr, *right_ = nullptr;  // the loaded pair
    PairSolver again_;
};

}  // namespace groundmetric
