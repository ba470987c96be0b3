// One query of a pruned search.
//
// Lower bounds of d_M(q, x) rule out almost all x, from the cheapest to the
// dearest; M is a metric:
//
//     one-sided   1/2 (sum_p w_p |q_p - x_p| + |w'(q - x)|),  w_p = the least
//                 M_pp', p' != p: mass that leaves p, or enters it, goes so far
//     Lipschitz   |f'(q - x)|, f the potentials of a pair (q, x') met before
//     raised      the best of these f on the bins of the pair: u_i = min_j C_ij
//                 + f_j, v_j = min_i C_ij - u_i; then u'(q - x)+ + v'(x - q)+
//     stopped     what the simplex has proved when it is above the ceiling
//
// A query always opens the candidate with the smallest bound: brings its next
// bound up to date or, when there is none, solves it. It ends when the smallest
// bound exceeds the distance of the k-th best.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "pairwise.h"
#include "search.h"
#include "simplex.h"

namespace groundmetric {

// What one end of a pair tells the other.
struct Message {
    std::int64_t index;  // of the teller, or of the other end
    double value;        // the distance; if it is not solved, a bound, scaled
    bool is_solved;
    KeptTree tree;
};

// How the candidates of one query were judged.
struct QueryTally {
    std::int64_t n_candidates = 0;
    std::int64_t n_solved = 0, n_stopped = 0, n_pivots = 0;
    std::int64_t n_again = 0;  // looks at pairs that their other end looked at
};

// What the queries of one call share.
struct SearchPlan {
    const Masses* queries;
    const Request& request;
    bool among_base;
    bool each_once;  // every pair is looked at by its first end only
    bool reduced;    // common mass stays
    std::atomic<std::size_t> n_tree_bytes{0};  // kept so far
};

class alignas(128) Query {
public:
    Query(const PrunedSearch& search, SearchPlan& plan);

    // The neighbors of query i, given what other ends have told.
    std::vector<Neighbor> run(std::int64_t i,
                              const std::vector<Message>& messages,
                              Pulse& pulse);
    // The pairs that the last run looked at, for their other ends.
    std::vector<Message> looks;
    // Of the last run.
    QueryTally tally;

private:
    // Functions of the nearest come first and say most; where very many pairs
    // have to be solved, the others would cost more than they save.
    static constexpr int kMostFunctions = 128;
    // Beyond this, trees are not kept but found again when they are needed.
    static constexpr std::size_t kMostTreeBytes = std::size_t{1} << 28;
    static constexpr int kNone = -1;
    struct Candidate {
        double bound;
        std::int64_t index;
        bool is_hinted = false;
        bool is_known = false;  // looked at from its other end
        int n_seen = 0;         // functions that it was bounded by
        int best = kNone;       // of these
        int raised = kNone;
        double gap = 0.0;  // f'(q - x), f the best
    };
    // Later in the heap's order.
    static bool is_behind(const Candidate& a, const Candidate& b) {
        if (a.is_hinted != b.is_hinted) return b.is_hinted;
        return a.bound > b.bound || (a.bound == b.bound && a.index > b.index);
    }
    // The worst that is still wanted of this candidate.
    Neighbor limit_of(const Candidate& candidate) const;
    bool is_beaten(const Candidate& candidate) const {
        return limit_of(candidate) <
               Neighbor{candidate.bound * scale_, candidate.index};
    }
    bool are_all_beaten() const;
    int n_functions() const {
        return static_cast<int>(functions_.size() / query_.size());
    }
    const double* function(int k) const {
        return functions_.data() +
               static_cast<std::size_t>(k) * search_.width();
    }

    void mark_told(const std::vector<Message>& messages, bool is_over);
    void gather_candidates(const std::vector<Message>& messages);
    void take_over(const std::vector<Message>& messages);
    void load(std::int64_t index);
    bool raise(Candidate& candidate);
    void bound_by_functions(Candidate& candidate);
    void bound_by_raised_function(Candidate& candidate);
    void solve(const Candidate& candidate, Pulse& pulse);
    KeptTree kept_tree();
    void keep(Neighbor found);
    void add_functions();
    void add_function(std::vector<double> f);

    const PrunedSearch& search_;
    SearchPlan& plan_;
    const double scale_;
    const double margin_;

    std::int64_t i_ = 0;
    double radius_ = 0.0;
    std::vector<double> query_;
    std::vector<double> functions_;
    std::vector<Candidate> heap_;
    std::vector<Neighbor> best_;      // a heap, the worst on top
    Neighbor limit_{};                // beyond it nothing is wanted
    std::vector<std::int32_t> told_;  // number of a message, by its teller
    const Mass *left_ = nullptr, *right_ = nullptr;  // the pair that is loaded
    TransportSimplex simplex_;
    PairSolver again_;
};

}  // namespace groundmetric
