#include "search/dense_search.h"

#include <algorithm>
#include <cmath>

#include "base/kernels.h"
#include "search/dense_query.h"

namespace groundmetric {
namespace {

// Queries in a wave learn nothing from each other, and threads wait at its end.
std::int64_t wave_size(std::int64_t n, bool passes_on) {
    return passes_on ? std::clamp<std::int64_t>(n / 16, 8, 512) : n;
}

// Whether no query has more candidates than neighbors are wanted.
bool wants_all(const DenseSearch& search, const Request& request,
               const Poll& poll) {
    const std::int64_t n = search.base().size();
    if (request.n_neighbors >= n) return true;
    std::int64_t most = 0;
    const Body body = [&](std::int64_t k, int, StopToken&) {
        if (most > request.n_neighbors) return;
        std::int64_t n_candidates = 0;
        request.candidates.for_each(request.first + k, n,
                                    [&](std::int64_t) { ++n_candidates; });
        most = std::max(most, n_candidates);
    };
    parallel_for(request.end - request.first, 1, 1, poll, body);
    return most <= request.n_neighbors;
}

// The queries of one call: runs them in waves, and passes messages on.
class Search {
public:
    Search(const DenseSearch& search, SearchCall& call,
           const Threading& threading)
        : call_(call),
          threading_(threading),
          n_(call.queries->size()),
          begin_(call.among_base ? call.request.first : 0),
          end_(call.among_base ? call.request.end : n_),
          wave_(wave_size(end_ - begin_, call.among_base && !call.each_once)),
          workers_(static_cast<std::size_t>(
                       n_workers(wave_, 1, threading.n_threads)),
                   DenseQuery(search, call)),
          found_(static_cast<std::size_t>(n_)),
          attempts_(found_.size()),
          inbox_(found_.size()) {}

    Neighborhoods run() {
        for (std::int64_t first = begin_; first < end_; first += wave_) {
            const std::int64_t end = std::min(end_, first + wave_);
            run_wave(first, end);
            if (call_.among_base) pass_on(first, end);
        }
        if (call_.each_once) add_other_ends();
        return gathered();
    }

private:
    void run_wave(std::int64_t first, std::int64_t end) {
        const Poll poll = [&](std::int64_t n_done) {
            return threading_.poll(first - begin_ + n_done);
        };
        const Body body = [&](std::int64_t k, int worker, StopToken& stop) {
            DenseQuery& query = workers_[worker];
            const std::int64_t i = first + k;
            found_[i] = query.run(i, inbox_[i], stop);
            attempts_[i] = std::move(query.attempts);
        };
        parallel_for(end - first, threading_.n_threads, 1, poll, body);
    }

    // A message to a finished query is useless, unless each pair is handled
    // only once.
    void pass_on(std::int64_t first, std::int64_t end) {
        std::vector<std::pair<std::int64_t, std::int64_t>> within;  // the wave
        for (std::int64_t i = first; i < end; ++i) {
            for (Message& attempt : attempts_[i]) {
                const std::int64_t other = attempt.index;
                attempt.index = i;
                if (other >= first && other < end && !call_.each_once)
                    within.push_back(std::minmax(i, other));
                if (call_.is_query(other) && (other >= end || call_.each_once))
                    inbox_[other].push_back(std::move(attempt));
            }
            attempts_[i] = {};
            if (!call_.each_once) inbox_[i] = {};
        }
        std::sort(within.begin(), within.end());
        const auto twice = std::unique(within.begin(), within.end());
        n_again_ += within.end() - twice;
    }

    void add_other_ends() {
        for (std::int64_t j = 0; j < n_; ++j) {
            for (Message& message : inbox_[j])
                if (message.is_solved &&
                    message.value <= call_.request.radii[j])
                    found_[j].push_back({message.value, message.index,
                                         std::move(message.tree)});
            inbox_[j] = {};
            std::sort(found_[j].begin(), found_[j].end());
        }
    }

    Neighborhoods gathered() {
        Neighborhoods out(found_);
        std::int64_t n_candidate_ends = 0, n_again = n_again_;
        for (const DenseQuery& worker : workers_) {
            out.counts += worker.counts;
            n_candidate_ends += worker.n_candidate_ends;
            n_again += worker.n_again;
        }
        out.counts.n_bounded = n_candidate_ends / 2 + n_again -
                               out.counts.n_solved - out.counts.n_stopped;
        return out;
    }

    SearchCall& call_;
    const Threading& threading_;
    const std::int64_t n_, begin_, end_, wave_;
    std::vector<DenseQuery> workers_;
    std::vector<std::vector<Neighbor>> found_;
    std::vector<std::vector<Message>> attempts_, inbox_;
    std::int64_t n_again_ = 0;  // pairs that both ends tried in one wave
};

}  // namespace

DenseSearch::DenseSearch(std::shared_ptr<const Masses> base,
                         std::shared_ptr<const CostMatrix> matrix,
                         const Poll& poll)
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
    const Body body = [&](std::int64_t j, int, StopToken&) {
        for (int p = 0; p < d; ++p) {
            const double mass = to_double(base_->row(j)[p]) * base_->unit();
            rows_[j * width_ + p] = mass;
            least_sums_[j] += least_[p] * mass;
        }
    };
    parallel_for(base_->size(), 1, 1, poll, body);
}

Neighborhoods DenseSearch::find(const Masses* queries, const Request& request,
                                const Threading& threading) const {
    const bool among_base = queries == nullptr;
    SearchCall call{
        among_base ? base_.get() : queries, request, among_base,
        among_base && wants_all(*this, request, threading.poll),
        matrix_->is_quasimetric(threading.n_threads, threading.poll)};
    Neighborhoods found = Search(*this, call, threading).run();
    n_solves_ = found.counts.n_solved + found.counts.n_stopped;
    return found;
}

void DenseSearch::plan_sum(const Neighborhoods& found, const double* weights,
                           const Threading& threading, double* sums) const {
    const int d = base_->n_bins();
    const bool reduced =
        matrix_->is_quasimetric(threading.n_threads, threading.poll);
    std::fill_n(sums, static_cast<std::size_t>(d) * d, 0.0);
    TransportSimplex simplex;
    // One thread: the order of summation is always that of the pairs.
    const Body body = [&](std::int64_t i, int, StopToken& stop) {
        for (std::int64_t k = found.starts[i]; k < found.starts[i + 1]; ++k) {
            if (weights[k] == 0.0) continue;
            const Neighbor& neighbor = found.neighbors[k];
            const auto [a, b] = std::minmax(i, neighbor.index);
            const Mass *r = base_->row(a), *c = base_->row(b);
            simplex.problem.set_margins(r, d, c, d, reduced);
            if (neighbor.tree != nullptr) {
                simplex.tree.restore(simplex.problem, neighbor.tree->data());
            } else {
                simplex.problem.set_costs(*matrix_);
                simplex.solve(stop);
            }
            add_plan(simplex.problem, simplex.tree, r, c, reduced,
                     weights[k] * base_->unit(), d, sums);
        }
    };
    parallel_for(static_cast<std::int64_t>(found.starts.size()) - 1, 1, 8,
                 threading.poll, body);
}

void DenseSearch::spread_sum(const Neighborhoods& found, const double* weights,
                             const Threading& threading, double* sums) const {
    const int d = base_->n_bins();
    std::fill_n(sums, static_cast<std::size_t>(d) * d, 0.0);
    std::vector<double> received(static_cast<std::size_t>(d));
    // One thread, and no sum of products: the same on all processors.
    const Body body = [&](std::int64_t i, int, StopToken&) {
        for (std::int64_t k = found.starts[i]; k < found.starts[i + 1]; ++k) {
            if (weights[k] == 0.0) continue;
            const double *r = row(i), *c = row(found.neighbors[k].index);
            double mass = 0.0;
            for (int p = 0; p < d; ++p) {
                received[p] = std::max(c[p] - r[p], 0.0);
                mass += received[p];
            }
            for (int p = 0; p < d; ++p) {
                if (r[p] <= c[p]) continue;
                const double share = weights[k] * ((r[p] - c[p]) / mass);
                for (int q = 0; q < d; ++q)
                    sums[p * d + q] += share * received[q];
            }
        }
    };
    parallel_for(static_cast<std::int64_t>(found.starts.size()) - 1, 1, 8,
                 threading.poll, body);
}

}  // namespace groundmetric
