#include "search/dense_query.h"

#include <algorithm>
#include <cmath>

#include "base/kernels.h"
#include "transport/certificate.h"

namespace groundmetric {
namespace {

// Entries of message_of_ for candidates that sent no message.
constexpr std::int32_t kNoMessage = -1, kHinted = -2;

// Subtracted from every bound. Bounds are computed from masses and costs of the
// order of 1, with a rounding for each bin, and validation accepts a matrix
// that breaks a triangle by METRIC_ROUNDING.
double margin_of(int d) { return 0x1p-36 + d * 0x1p-50; }

}  // namespace

DenseQuery::DenseQuery(const DenseSearch& search, SearchCall& call)
    : BestFirst(call.request),
      search_(search),
      call_(call),
      scale_(search.matrix().scale()),
      margin_(margin_of(search.base().n_bins()) * search.matrix().largest()),
      query_(static_cast<std::size_t>(search.width())),
      message_of_(static_cast<std::size_t>(search.base().size()), kNoMessage),
      again_(search.matrix(), search.near_arcs()) {}

std::vector<Neighbor> DenseQuery::run(std::int64_t i,
                                      const std::vector<Message>& messages,
                                      StopToken& stop) {
    i_ = i;
    radius_ = call_.request.radii[i];
    start(radius_);
    attempts.clear();
    functions_.clear();
    const Mass* masses = call_.queries->row(i);
    for (int p = 0; p < search_.base().n_bins(); ++p)
        query_[p] = to_double(masses[p]) * call_.queries->unit();
    gather_candidates(messages);
    take_over(messages, stop);
    return find_nearest(stop);
}

Neighbor DenseQuery::limit_of(const Candidate& candidate) const {
    if (!call_.each_once) return limit_;
    const double other = call_.request.radii[candidate.index];
    return {std::max(radius_, other), kLast};
}

void DenseQuery::set_messages(const std::vector<Message>& messages,
                              bool is_over) {
    const Request& request = call_.request;
    if (!request.hints.empty())
        for (auto k = request.hint_starts[i_]; k < request.hint_starts[i_ + 1];
             ++k)
            message_of_[request.hints[k]] = is_over ? kNoMessage : kHinted;
    for (std::size_t k = 0; k < messages.size(); ++k)
        message_of_[messages[k].index] =
            is_over ? kNoMessage : static_cast<std::int32_t>(k);
}

void DenseQuery::gather_candidates(const std::vector<Message>& messages) {
    set_messages(messages, false);
    const std::vector<double>& least = search_.least_costs();
    const int width = search_.width();
    double sum = 0.0;
    for (int p = 0; p < width; ++p) sum += least[p] * query_[p];
    const auto consider = [&](std::int64_t j) {
        const bool is_query = call_.is_query(j);
        n_candidate_ends += is_query ? 1 : 2;
        if (call_.each_once && is_query && j < i_) return;
        const std::int32_t message = message_of_[j];
        if (message >= 0 && messages[message].is_solved) return;
        const double gap = kernels().weighted_distance(
            least.data(), query_.data(), search_.row(j), width);
        const double bound =
            0.5 * (gap + std::abs(sum - search_.least_cost(j)));
        Candidate candidate{std::max(0.0, bound - margin_), j};
        candidate.is_hinted = message == kHinted;
        candidate.is_known = message >= 0;
        if (message >= 0)
            candidate.bound =
                std::max(candidate.bound, messages[message].value);
        offer(candidate);
    };
    gather(call_.request.candidates, call_.among_base ? i_ : -1,
           search_.base().size(), consider);
    set_messages(messages, true);
}

// Pairs that their other end has solved are free, and their potentials cheap.
void DenseQuery::take_over(const std::vector<Message>& messages,
                           StopToken& stop) {
    for (const Message& message : messages) {
        if (!message.is_solved) continue;
        keep({message.value, message.index, message.tree});
        if (message.tree == nullptr || message.tree->empty()) continue;
        load(message.index);
        simplex_.tree.restore(simplex_.problem, message.tree->data());
        simplex_.set_potentials();
        add_functions(stop);
    }
}

// Updates the bound; false if it does not change, and a solve is due.
bool DenseQuery::raise(Candidate& candidate) {
    const bool has_limit = std::isfinite(limit_of(candidate).distance);
    if (call_.each_once && !has_limit) return false;
    const double before = candidate.bound;
    bound_by_functions(candidate);
    if (candidate.bound > before && !candidate.is_hinted) return true;
    // Without a limit no candidate can be ruled out, so do not bother yet.
    if (candidate.best != candidate.raised && has_limit)
        bound_by_raised_function(candidate);
    return candidate.bound > before && !candidate.is_hinted;
}

void DenseQuery::bound_by_functions(Candidate& candidate) {
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

void DenseQuery::bound_by_raised_function(Candidate& candidate) {
    load(candidate.index);
    candidate.raised = candidate.best;
    // The problem may have the query at its receiving end: see load().
    const bool is_swapped = call_.among_base && candidate.index < i_;
    const double sign = (candidate.gap > 0.0) != is_swapped ? 1.0 : -1.0;
    const double bound = simplex_.bound_by(function(candidate.best), sign);
    candidate.bound =
        std::max(candidate.bound, bound * search_.base().unit() - margin_);
}

// Loads the pair as in pairwise(): within the base, the smaller index first.
void DenseQuery::load(std::int64_t index) {
    const Mass* here = call_.queries->row(i_);
    const Mass* there = search_.base().row(index);
    if (call_.among_base && index < i_) std::swap(here, there);
    left_ = here;
    right_ = there;
    const int d = search_.base().n_bins();
    simplex_.problem.set_margins(here, d, there, d, call_.reduced);
    simplex_.problem.set_costs(search_.matrix());
}

void DenseQuery::solve(const Candidate& candidate, StopToken& stop) {
    load(candidate.index);
    const double unit = search_.base().unit();
    const double limit = limit_of(candidate).distance / scale_;
    const bool is_solved =
        solve_up_to((limit * (1 + 1e-12) + margin_) / unit, stop);
    n_again += candidate.is_known;
    Message attempt{candidate.index, simplex_.lower * unit - margin_, is_solved,
                    nullptr};
    if (is_solved) {
        // Equal to pairwise(), which may use the hub, to the last bit.
        const double cost =
            search_.near_arcs()
                ? again_.solve(left_, right_,
                               call_.reduced ? Stay::yes : Stay::no, stop)
                : simplex_.cost();
        attempt.value = search_.matrix().unscaled(cost, unit);
        attempt.tree = kept_tree();
        keep({attempt.value, attempt.index, attempt.tree});
    }
    attempts.push_back(std::move(attempt));
    const bool is_useless = call_.each_once && std::isinf(radius_);
    if (simplex_.problem.n_nodes() > 0 && !is_useless) add_functions(stop);
}

KeptTree DenseQuery::kept_tree() {
    if (!call_.request.keep_trees) return nullptr;
    using Nodes = const std::vector<Node>;
    if (simplex_.problem.n_nodes() == 0) return std::make_shared<Nodes>();
    auto tree = std::make_shared<Nodes>(simplex_.tree.nodes());
    const std::size_t n_bytes = sizeof(Nodes) + tree->size() * sizeof(Node);
    if (call_.n_tree_bytes.fetch_add(n_bytes) > kMostTreeBytes) return nullptr;
    return tree;
}

void DenseQuery::add_functions(StopToken& stop) {
    if (n_functions() >= kMostFunctions) return;
    add_function(lipschitz_potential(simplex_, search_.matrix(), stop));
    add_function(sender_potential(simplex_, search_.matrix(), stop));
}

// Centered to reduce rounding: adding a constant does not change a bound.
void DenseQuery::add_function(std::vector<double> f) {
    const auto [low, high] = std::minmax_element(f.begin(), f.end());
    const double center = 0.5 * (*low + *high);
    for (double& value : f) value -= center;
    f.resize(static_cast<std::size_t>(search_.width()), 0.0);
    functions_.insert(functions_.end(), f.begin(), f.end());
}

}  // namespace groundmetric
