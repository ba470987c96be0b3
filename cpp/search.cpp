#include "search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "certificate.h"
#include "kernels.h"
#include "pairwise.h"
#include "simplex.h"

namespace groundmetric {
namespace {

// Copies a histogram, as numbers.
void copy_row(const Masses& masses, std::int64_t i, double* to) {
    for (int p = 0; p < masses.n_bins(); ++p)
        to[p] = to_double(masses.row(i)[p]) * masses.unit();
}

// One query at a time: its candidates, what they are bounded by, and the best
// of those solved. Bounds are scaled, as costs are; distances are not.
class Query {
public:
    Query(const NeighborSearch& search, bool among_base, const Reach& reach,
          bool reduced);
    std::vector<Neighbor> run(const Masses& queries, std::int64_t i,
                              Pulse& pulse);
    std::int64_t n_solves = 0;

private:
    // Those of the nearest come first and say most; where very many have to
    // be solved, the others would cost more than they save.
    static constexpr int kMostFunctions = 128;
    static constexpr int kNone = -1;
    struct Candidate {
        double bound;
        std::int64_t index;
        int n_seen = 0;    // functions that it was bounded by
        int best = kNone;  // of these
        int raised = kNone;
        double gap = 0.0;  // f'(q - x), f the best
    };
    // Later in the heap's order.
    static bool is_behind(const Candidate& a, const Candidate& b) {
        return a.bound > b.bound || (a.bound == b.bound && a.index > b.index);
    }
    // No better than what is found already.
    bool is_beaten(const Candidate& candidate) const {
        return Neighbor{candidate.bound * scale_, candidate.index} > limit_;
    }
    int n_functions() const {
        return static_cast<int>(functions_.size() / query_.size());
    }
    const double* function(int k) const {
        return functions_.data() +
               static_cast<std::size_t>(k) * search_.width();
    }

    void gather_candidates();
    void load(const Candidate& candidate);
    bool raise(Candidate& candidate);
    void bound_by_functions(Candidate& candidate);
    void bound_by_raised_function(Candidate& candidate);
    void solve(const Candidate& candidate, Pulse& pulse);
    void keep(const Neighbor& found);
    void add_function(std::vector<double> f);

    const NeighborSearch& search_;
    const bool among_base_;
    const Reach reach_;
    const bool reduced_;
    const double scale_;
    const double margin_;

    const Masses* queries_ = nullptr;
    std::int64_t i_ = 0;
    std::vector<double> query_;
    std::vector<double> functions_;
    std::vector<Candidate> heap_;
    std::vector<Neighbor> best_;  // a heap, the worst on top
    Neighbor limit_{};            // beyond it nothing is wanted
    const Mass *left_ = nullptr, *right_ = nullptr;  // the pair that is loaded
    TransportSimplex simplex_;
    PairSolver again_;
};

// A bound is computed from numbers of the order of 1, masses and costs, with a
// rounding for each bin; and a matrix that broke a triangle by METRIC_ROUNDING
// was let in. This much is taken off every bound.
double margin_of(int d) { return 0x1p-36 + d * 0x1p-50; }

Query::Query(const NeighborSearch& search, bool among_base, const Reach& reach,
             bool reduced)
    : search_(search),
      among_base_(among_base),
      reach_(reach),
      reduced_(reduced),
      scale_(search.matrix().scale()),
      margin_(margin_of(search.matrix().size())),
      query_(static_cast<std::size_t>(search.width())),
      again_(search.matrix(), search.near_arcs()) {}

std::vector<Neighbor> Query::run(const Masses& queries, std::int64_t i,
                                 Pulse& pulse) {
    queries_ = &queries;
    i_ = i;
    copy_row(queries, i, query_.data());
    functions_.clear();
    best_.clear();
    limit_ = {reach_.radius, std::numeric_limits<std::int64_t>::max()};
    gather_candidates();
    while (!heap_.empty() && !is_beaten(heap_.front())) {
        pulse.beat();
        std::pop_heap(heap_.begin(), heap_.end(), is_behind);
        Candidate candidate = heap_.back();
        heap_.pop_back();
        if (!raise(candidate)) {
            solve(candidate, pulse);
        } else if (!is_beaten(candidate)) {
            heap_.push_back(candidate);
            std::push_heap(heap_.begin(), heap_.end(), is_behind);
        }
    }
    std::sort_heap(best_.begin(), best_.end());
    return best_;
}

void Query::gather_candidates() {
    heap_.clear();
    const std::vector<double>& least = search_.least_costs();
    const int width = search_.width();
    double sum = 0.0;
    for (int p = 0; p < width; ++p) sum += least[p] * query_[p];
    for (std::int64_t j = 0; j < search_.base().size(); ++j) {
        if (among_base_ && j == i_) continue;
        const double gap = kernels().weighted_distance(
            least.data(), query_.data(), search_.row(j), width);
        const double bound =
            0.5 * (gap + std::abs(sum - search_.least_cost(j)));
        const Candidate candidate{std::max(0.0, bound - margin_), j};
        if (!is_beaten(candidate)) heap_.push_back(candidate);
    }
    std::make_heap(heap_.begin(), heap_.end(), is_behind);
}

// Brings the bound up to date; false if it stays, and a solve is due.
bool Query::raise(Candidate& candidate) {
    const double before = candidate.bound;
    bound_by_functions(candidate);
    if (candidate.bound > before) return true;
    // Without a limit nobody can be ruled out: not worth the trouble yet.
    if (candidate.best != candidate.raised && std::isfinite(limit_.distance))
        bound_by_raised_function(candidate);
    return candidate.bound > before;
}

void Query::bound_by_functions(Candidate& candidate) {
    const double* row = search_.row(candidate.index);
    const int n = n_functions();
    for (; candidate.n_seen < n; ++candidate.n_seen) {
        const double gap = kernels().dot_difference(
            function(candidate.n_seen), query_.data(), row, search_.width());
        if (std::abs(gap) <= std::abs(candidate.gap)) continue;
        candidate.best = candidate.n_seen;
        candidate.gap = gap;
    }
    candidate.bound =
        std::max(candidate.bound, std::abs(candidate.gap) - margin_);
}

void Query::bound_by_raised_function(Candidate& candidate) {
    load(candidate);
    candidate.raised = candidate.best;
    // The problem may have the query at its receiving end: see load().
    const bool is_swapped = among_base_ && candidate.index < i_;
    const double sign = (candidate.gap > 0.0) != is_swapped ? 1.0 : -1.0;
    const double bound = simplex_.bound_by(function(candidate.best), sign);
    candidate.bound =
        std::max(candidate.bound, bound * search_.base().unit() - margin_);
}

// The pair as pairwise() has it: of two of the base, the earlier one first.
void Query::load(const Candidate& candidate) {
    const Mass* here = queries_->row(i_);
    const Mass* there = search_.base().row(candidate.index);
    if (among_base_ && candidate.index < i_) std::swap(here, there);
    left_ = here;
    right_ = there;
    simplex_.problem.set_margins(here, there, search_.base().n_bins(),
                                 reduced_);
    simplex_.problem.set_costs(search_.matrix());
}

void Query::solve(const Candidate& candidate, Pulse& pulse) {
    ++n_solves;
    load(candidate);
    const double unit = search_.base().unit();
    const double limit = limit_.distance / scale_;
    simplex_.ceiling = std::min(kHuge, (limit * (1 + 1e-12) + margin_) / unit);
    simplex_.solve(pulse);
    if (!simplex_.is_above_ceiling) {
        // To the last bit as pairwise() has it, which may go through the hub.
        const double cost = search_.near_arcs()
                                ? again_.solve(left_, right_, reduced_, pulse)
                                : simplex_.cost();
        keep({search_.matrix().unscaled(cost, unit), candidate.index});
    }
    if (simplex_.problem.n_nodes() == 0 || n_functions() >= kMostFunctions)
        return;
    add_function(lipschitz_potential(simplex_, search_.matrix()));
    add_function(sender_potential(simplex_, search_.matrix()));
}

void Query::keep(const Neighbor& found) {
    if (found > limit_) return;
    best_.push_back(found);
    std::push_heap(best_.begin(), best_.end());
    const std::size_t most = static_cast<std::size_t>(reach_.n_neighbors);
    if (best_.size() > most) {
        std::pop_heap(best_.begin(), best_.end());
        best_.pop_back();
    }
    if (best_.size() == most) limit_ = best_.front();
}

// Centered, for the sake of rounding: histograms of equal mass do not see it.
void Query::add_function(std::vector<double> f) {
    const auto [low, high] = std::minmax_element(f.begin(), f.end());
    const double center = 0.5 * (*low + *high);
    for (double& value : f) value -= center;
    f.resize(static_cast<std::size_t>(search_.width()), 0.0);
    functions_.insert(functions_.end(), f.begin(), f.end());
}

}  // namespace

NeighborSearch::NeighborSearch(std::shared_ptr<const Masses> base,
                               std::shared_ptr<const CostMatrix> matrix)
    : base_(std::move(base)),
      matrix_(std::move(matrix)),
      near_(NearArcs::of(*matrix_)),
      width_(padded(base_->n_bins())),
      rows_(static_cast<std::size_t>(base_->size()) * width_),
      least_(static_cast<std::size_t>(width_)),
      least_sums_(static_cast<std::size_t>(base_->size())) {
    const int d = base_->n_bins();
    for (int p = 0; d > 1 && p < d; ++p) {
        double least = kHuge;
        for (int q = 0; q < d; ++q)
            if (q != p) least = std::min(least, matrix_->row(p)[q]);
        least_[p] = least;
    }
    for (std::int64_t j = 0; j < base_->size(); ++j) {
        copy_row(*base_, j, rows_.data() + j * width_);
        for (int p = 0; p < d; ++p) least_sums_[j] += least_[p] * row(j)[p];
    }
}

Neighbors NeighborSearch::find(const Masses& queries, const Reach& reach,
                               const Threading& threading) const {
    return find(queries, false, reach, threading);
}

Neighbors NeighborSearch::find_among_base(const Reach& reach,
                                          const Threading& threading) const {
    return find(*base_, true, reach, threading);
}

Neighbors NeighborSearch::find(const Masses& queries, bool among_base,
                               const Reach& reach,
                               const Threading& threading) const {
    const bool reduced =
        matrix_->is_quasimetric(threading.n_threads, threading.poll);
    std::vector<Query> workers(static_cast<std::size_t>(n_workers(
                                   queries.size(), 1, threading.n_threads)),
                               Query(*this, among_base, reach, reduced));
    Neighbors found(static_cast<std::size_t>(queries.size()));
    const Body body = [&](std::int64_t i, int worker, Pulse& pulse) {
        found[i] = workers[worker].run(queries, i, pulse);
    };
    parallel_for(queries.size(), threading.n_threads, 1, threading.poll, body);
    std::int64_t n_solves = 0;
    for (const Query& worker : workers) n_solves += worker.n_solves;
    n_solves_ = n_solves;
    return found;
}

}  // namespace groundmetric
