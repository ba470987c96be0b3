#include "cone/projector.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/kernels.h"

namespace groundmetric {

namespace {

constexpr int kBlock = 16;  // rows of a task, a multiple of kLanes

// How accurately to solve for the multipliers before the next round: roughly if
// many triangles were just added, accurately if few were.
constexpr double kManyNew = 0.25, kRoughly = 0.1;
constexpr double kFewNew = 0.01, kWell = 0.01;
double next_reduction(std::size_t n_new, std::size_t n) {
    const double share = static_cast<double>(n_new) / static_cast<double>(n);
    return share > kManyNew ? kRoughly : share > kFewNew ? kWell : 0.0;
}

// Triangles to add: those violated at least half as much as the worst one of
// their edge, or nearly as much if there are more of them than edges.
constexpr double kWeak = 0.5, kStrong = 0.9;
constexpr double kNegligible = 1e-3;  // times the largest violation
// For each violated edge, no more than make kShare per edge on average, but
// always up to kLeast.
constexpr double kShare = 3.0;
constexpr int kLeast = 8;

// The bound is relative to |metric|, but not to less than this times |input|.
constexpr double kLeastNorm = 1e-3;

// The sum of term(j) over first <= j < last: four at a time, since each
// addition waits for the one before.
template <class Term>
double interleaved_sum(int first, int last, const Term& term) {
    constexpr int kSums = 4;
    double sum[kSums] = {};
    int j = first;
    for (; j + kSums <= last; j += kSums)
        for (int l = 0; l < kSums; ++l) sum[l] += term(j + l);
    for (; j < last; ++j) sum[0] += term(j);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

}  // namespace

MetricProjector::MetricProjector(int n_bins, bool has_center)
    : n_bins_(n_bins),
      d_(n_bins + has_center),
      stride_(spread(d_)),
      set_(d_, stride_),
      x_(row(d_), kHuge),
      weights_(row(d_), 1.0),
      metric_(row(d_), kHuge),
      shortcut_(row(d_), kHuge),
      found_((d_ + kBlock - 1) / kBlock) {}

ProjectionReport MetricProjector::project(const double* input,
                                          const double* weights,
                                          const ProjectionOptions& options,
                                          double* metric) {
    const CallLock lock(call_mutex_, options.poll);
    options_ = &options;
    load(input, weights);
    Shared shared{options.poll};
    StopToken stop(shared, true);
    ProjectionReport report;
    const double input_norm = norm(x_);
    double size = input_norm;
    double limit = options.tol * size;
    double reduction = kRoughly;
    double gap_share = 0.5;
    bool stuck = false;
    const auto assess = [&] {
        size = std::max(norm(metric_), kLeastNorm * input_norm);
        limit = options.tol * size;
        report.bound = n_bins_ <= 2 ? 0.0 : distance_bound();
    };
    for (;;) {
        std::vector<double> exact;
        if (!stuck && (stuck = is_stuck(report.rounds, report.bound / size))) {
            exact = solve_exactly(input, stop);
        } else if (set_.size() > 0) {
            const double gap_goal = gap_share * limit * limit / 2.0;
            set_.improve(reduction, gap_goal, rounding_, stop);
        }
        set_.write(x_.data());
        find_shortcuts(x_);
        const bool repaired = repair() || !exact.empty();
        if (!exact.empty()) metric_ = std::move(exact);
        assess();
        const bool lost = !std::isfinite(report.bound + limit);
        const bool last = ++report.rounds >= options.max_rounds || lost;
        if (options.after) options.after(report.rounds);
        if (n_bins_ <= 2 || last || report.bound <= limit) {
            if (has_center())
                close_at_cap();
            else if (repaired)
                close();
            else
                metric_ = x_;
            assess();
            report.converged = !lost && report.bound <= limit;
            if (last || report.converged) break;
            find_shortcuts(x_);  // close() left those of the metric
        }
        set_.drop_idle();
        const std::size_t n_new = add_violated();
        reduction = next_reduction(n_new, set_.size());
        if (n_new == 0) gap_share *= 0.1;
    }
    if (size > 0.0) report.bound /= size;
    if (!std::isfinite(report.bound)) {
        report.bound = std::numeric_limits<double>::infinity();
        set_.clear();  // its multipliers are invalid
    }
    report.violation = violation_ * unit_;
    report.sweeps = set_.n_sweeps();
    store(metric);
    kept_ = {set_.multipliers(), unit_};
    return report;
}

void MetricProjector::for_row_blocks(const RowTask& task) const {
    parallel_for(static_cast<std::int64_t>(found_.size()), options_->n_threads,
                 1, options_->poll, [&](std::int64_t block, int, StopToken&) {
                     const int first = static_cast<int>(block) * kBlock;
                     task(first, std::min(d_, first + kBlock));
                 });
}

// The oracle. The matrix is symmetric, so entries right of the diagonal, and
// the rest of its block, suffice. k = i is tried too: no shortcut is
// longer than the edge.
void MetricProjector::find_shortcuts(const std::vector<double>& matrix) {
    for_row_blocks([&](int first, int last) {
        const int n_columns = stride_ - first;
        for (int i = first; i < last; ++i)
            std::fill_n(&shortcut_[row(i) + first], n_columns, kHuge);
        kernels().min_plus(&matrix[row(first)], &matrix[first], stride_, d_,
                           last - first, n_columns,
                           &shortcut_[row(first) + first]);
    });
}

// metric <- max(0, min(x, shortcut)), right of the diagonal. Returns whether it
// differs from x.
bool MetricProjector::repair() {
    constexpr int kMaxima = 4;  // interleaved, as above
    double worst[kMaxima] = {}, lowest[kMaxima] = {};
    for (int i = 0; i < n_bins_; ++i) {
        const double* const x = &x_[row(i)];
        const double* const shortcut = &shortcut_[row(i)];
        double* const m = &metric_[row(i)];
        m[i] = 0.0;
        for (int j = i + 1; j < n_bins_; ++j)
            m[j] = std::max(0.0, std::min(x[j], shortcut[j]));
        for (int j = i + 1; j < n_bins_; ++j) {
            const int l = j % kMaxima;
            worst[l] = std::max(worst[l], x[j] - shortcut[j]);
            lowest[l] = std::min(lowest[l], x[j]);
        }
    }
    if (has_center()) set_center(metric_, 0.5 * cap_);
    violation_ = *std::max_element(worst, worst + kMaxima);
    return violation_ > 0.0 ||
           *std::min_element(lowest, lowest + kMaxima) < 0.0;
}

// Shortest paths, until m_ij <= m_ik + m_kj holds as computed.
void MetricProjector::close() {
    do {
        for (int i = 0; i < d_; ++i)
            for (int j = 0; j < i; ++j)
                metric_[row(i) + j] = metric_[row(j) + i];
        find_shortcuts(metric_);
    } while (lower_to_shortcuts());
}

bool MetricProjector::lower_to_shortcuts() {
    bool lower = false;
    for (int i = 0; i < n_bins_; ++i)
        for (int j = i + 1; j < n_bins_; ++j) {
            const double shortcut = shortcut_[row(i) + j];
            lower |= shortcut < metric_[row(i) + j];
            metric_[row(i) + j] = std::min(metric_[row(i) + j], shortcut);
        }
    return lower;
}

// Let y be a metric, x = x(u) and p the projection. Strong convexity of the
// primal at p and of the dual at its optimum add up to
//     |y - p|^2 + |x - p|^2 <= 2 (primal(y) - dual(u))
//                            = |y - x|^2 + 2 sum_t u_t slack_t(y):
// a rigorous bound on |y - p| whose terms are all non-negative, so that none
// cancel. Slack that the rounding of x explains is left out.
double MetricProjector::distance_bound() const {
    double square = 0.0;
    for (int i = 0; i < n_bins_; ++i) {
        const double *m = &metric_[row(i)], *x = &x_[row(i)];
        const double* const w = &weights_[row(i)];
        square += interleaved_sum(i + 1, n_bins_, [=](int j) {
            return w[j] * (m[j] - x[j]) * (m[j] - x[j]);
        });
    }
    const double gap = set_.complementarity(metric_.data(), rounding_);
    return std::sqrt(square + 2.0 * gap);
}

std::size_t MetricProjector::add_violated() {
    std::size_t n_violated = 0;
    for (int i = 0; i < n_bins_; ++i)
        for (int j = i + 1; j < n_bins_; ++j) n_violated += is_violated(i, j);
    const double n_edges = 0.5 * n_bins_ * (n_bins_ - 1);
    const double share =
        kShare * n_edges /
        static_cast<double>(std::max<std::size_t>(n_violated, 1));
    const int most = std::max(
        kLeast, static_cast<int>(std::min(share, static_cast<double>(d_))));
    for_row_blocks([&](int first, int last) {
        search_rows(first, last, most, found_[first / kBlock]);
    });
    std::size_t n_found = 0, n_new = 0;
    for (const auto& found : found_) n_found += found.size();
    const bool crowded = static_cast<double>(n_found) > n_edges;
    for (const auto& found : found_)
        for (const Violated& c : found)
            if (c.strong || !crowded) n_new += set_.add(c.i, c.j, c.k);
    return n_new;
}

bool MetricProjector::is_violated(int i, int j) const {
    return x_[row(i) + j] - shortcut_[row(i) + j] > kNegligible * violation_;
}

void MetricProjector::search_rows(int first, int last, int most,
                                  std::vector<Violated>& found) const {
    found.clear();
    std::vector<int> below(stride_);
    for (int i = first; i < last; ++i)
        for (int j = i + 1; j < n_bins_; ++j) {
            if (!is_violated(i, j)) continue;
            const double *from_i = &x_[row(i)], *from_j = &x_[row(j)];
            const double excess = from_i[j] - shortcut_[row(i) + j];
            const double strong = from_i[j] - kStrong * excess;
            int n =
                kernels().find_below(from_i, from_j, stride_,
                                     from_i[j] - kWeak * excess, below.data());
            if (n > most) {
                // With many ties the choice matters little, but it should not
                // be the same for all edges.
                std::rotate(below.begin(), below.begin() + (i + j) % n,
                            below.begin() + n);
                std::stable_sort(
                    below.begin(), below.begin() + n, [=](int k, int l) {
                        return from_i[k] + from_j[k] < from_i[l] + from_j[l];
                    });
                n = most;
            }
            for (int l = 0; l < n; ++l) {
                const int k = below[l];
                found.push_back({i, j, k, from_i[k] + from_j[k] <= strong});
            }
        }
}

double MetricProjector::norm(const std::vector<double>& matrix) const {
    double square = 0.0;
    for (int i = 0; i < n_bins_; ++i) {
        const double *m = &matrix[row(i)], *w = &weights_[row(i)];
        square += interleaved_sum(i + 1, n_bins_,
                                  [=](int j) { return w[j] * m[j] * m[j]; });
    }
    return std::sqrt(square);
}

void MetricProjector::store(double* metric) const {
    for (int i = 0; i < n_bins_; ++i)
        for (int j = 0; j < n_bins_; ++j)
            metric[static_cast<std::size_t>(i) * n_bins_ + j] =
                metric_[row(i) + j] * unit_;
}

}  // namespace groundmetric
