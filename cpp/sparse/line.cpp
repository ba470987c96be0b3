#include "sparse/line.h"

#include <algorithm>
#include <tuple>

namespace groundmetric {
namespace {

// With its rounding errors (Knuth's two-sum).
class Sum {
public:
    void add(double term) {
        const double next = sum_ + term, rounded = next - sum_;
        lost_ += (sum_ - (next - rounded)) + (term - rounded);
        sum_ = next;
    }
    double value() const { return sum_ + lost_; }

private:
    double sum_ = 0.0, lost_ = 0.0;
};

// Calls visit(i, j, mass) for the flows of the plan that keeps the order.
template <class Visit>
void for_each_flow(const Problem& problem, Visit visit) {
    if (problem.n_rows() == 0) return;
    Mass left = problem.supply[0], open = problem.demand[0];
    for (int i = 0, j = 0;;) {
        const Mass moved = std::min(left, open);
        visit(i, j, moved);
        left -= moved;
        open -= moved;
        if (left == 0 && ++i < problem.n_rows()) left = problem.supply[i];
        if (open == 0 && ++j < problem.n_columns()) open = problem.demand[j];
        if (i == problem.n_rows() || j == problem.n_columns()) return;
    }
}

// The masses of all bins.
std::vector<Mass> spread_out(const Support& r, int d) {
    std::vector<Mass> masses(static_cast<std::size_t>(d), Mass{0});
    for (int k = 0; k < r.size; ++k) masses[r.bins[k]] = r.masses[k];
    return masses;
}

}  // namespace

void Line::set_margins(const Support& r, const Support& c,
                       Problem& problem) const {
    groundmetric::set_margins(problem, r, c, !squared_);
}

double Line::distance(const Support& r, const Support& c, double unit,
                      Problem& problem) const {
    set_margins(r, c, problem);
    Sum sum;
    for_each_flow(problem, [&](int i, int j, Mass mass) {
        sum.add(cost(r.bins[problem.rows[i]], c.bins[problem.columns[j]]) *
                (to_double(mass) * unit));
    });
    return sum.value();
}

Certificate Line::certificate(const Support& r, const Support& c,
                              double unit) const {
    using Entry = std::tuple<int, int, Mass>;
    Problem problem;
    Certificate out;
    out.value = distance(r, c, unit, problem);
    std::vector<Entry> plan;
    for (int p = 0, q = 0; !squared_ && p < r.size; ++p) {
        while (q < c.size && c.bins[q] < r.bins[p]) ++q;
        if (q < c.size && c.bins[q] == r.bins[p])
            plan.emplace_back(r.bins[p], r.bins[p],
                              std::min(r.masses[p], c.masses[q]));
    }
    for_each_flow(problem, [&](int i, int j, Mass mass) {
        plan.emplace_back(r.bins[problem.rows[i]], c.bins[problem.columns[j]],
                          mass);
    });
    for (const auto& [p, q, mass] : plan) {
        out.rows.push_back(p);
        out.columns.push_back(q);
        out.flow.push_back(to_double(mass) * unit);
    }
    out.u.resize(x_.size());
    out.v.resize(x_.size());
    if (squared_)
        climb_stairs(r, c, out);
    else
        set_slopes(r, c, out);
    Sum dual;
    for (const auto& [p, q, mass] : plan)
        dual.add((out.u[p] + out.v[q]) * (to_double(mass) * unit));
    out.dual_value = dual.value();
    return out;
}

// f counts from where its slope last changed, so that rounding does not add up.
void Line::set_slopes(const Support& r, const Support& c,
                      Certificate& out) const {
    const std::vector<Mass> sent = spread_out(r, size());
    const std::vector<Mass> received = spread_out(c, size());
    Mass to_the_right = 0;
    double base = 0.0, start = x_[0];
    int slope = 0;
    for (int p = 0; p < size(); ++p) {
        const double f = slope == 0 ? base : base + slope * (x_[p] - start);
        out.u[p] = f;
        out.v[p] = -f;
        to_the_right += sent[p] - received[p];
        const int next = to_the_right > 0 ? -1 : to_the_right < 0 ? 1 : 0;
        if (next == slope) continue;
        slope = next;
        base = f;
        start = x_[p];
    }
}

void Line::climb_stairs(const Support& r, const Support& c,
                        Certificate& out) const {
    std::vector<Mass> left = spread_out(r, size());
    std::vector<Mass> open = spread_out(c, size());
    const int last = size() - 1;
    out.u[0] = out.v[0] = 0.0;  // one place: it costs nothing
    for (int i = 0, j = 0; i < last || j < last;) {
        if (j == last || (i < last && left[i] <= open[j])) {
            open[j] -= left[i++];
            out.u[i] = cost(i, j) - out.v[j];
        } else {
            left[i] -= open[j++];
            out.v[j] = cost(i, j) - out.u[i];
        }
    }
}

void pairwise(const SparseMasses& x, const SparseMasses& y, const Line& line,
              bool symmetric, const Threading& threading, double* distances) {
    const std::int64_t n = y.size();
    std::vector<Problem> problems(
        static_cast<std::size_t>(n_workers(x.size(), 1, threading.n_threads)));
    const Body body = [&](std::int64_t i, int worker, StopToken& stop) {
        for (std::int64_t j = symmetric ? i : 0; j < n; ++j) {
            stop.check();
            const double value =
                line.distance(x.row(i), y.row(j), x.unit(), problems[worker]);
            distances[i * n + j] = value;
            if (symmetric) distances[j * n + i] = value;
        }
    };
    const Poll poll = [&](std::int64_t n_done) {
        return threading.poll(n_done * n);
    };
    parallel_for(x.size(), threading.n_threads, 1, poll, body);
}

void in_pairs(const SparseMasses& x, const SparseMasses& y, const Line& line,
              const std::int64_t* pairs, std::int64_t n,
              const Threading& threading, double* distances) {
    constexpr std::int64_t kChunk = 64;
    std::vector<Problem> problems(
        static_cast<std::size_t>(n_workers(n, kChunk, threading.n_threads)));
    const Body body = [&](std::int64_t k, int worker, StopToken&) {
        distances[k] =
            line.distance(x.row(pairs[2 * k]), y.row(pairs[2 * k + 1]),
                          x.unit(), problems[worker]);
    };
    parallel_for(n, threading.n_threads, kChunk, threading.poll, body);
}

}  // namespace groundmetric
