// Projection onto the cone of metric matrices,
//     {M : M = M', M_ii = 0, M_ij <= M_ik + M_kj for all i, j, k},
// or onto those with M_ij <= T. A cap is a triangle, too: with one more point,
// the center, at a fixed distance of T / 2 from all bins, it reads
// M_ij <= M_ic + M_cj, and no other triangle of the center says more than
// M_ij >= 0. So oracle, sweeps, repair and bound are the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/call_lock.h"
#include "base/parallel.h"
#include "cone/working_set.h"

namespace groundmetric {

struct ProjectionOptions {
    double tol = 1e-6;  // on the relative distance to the true projection
    double cap = 0.0;   // T, above zero, of a projector with a center
    int max_rounds = 1000;
    int n_threads = 1;
    Poll poll;                             // may stop the work
    std::function<void(int round)> after;  // each round; may be empty
};

struct ProjectionReport {
    bool converged = false;
    int rounds = 0;
    int sweeps = 0;          // over triangles of the working set
    double bound = 0.0;      // on |metric - projection| / |metric|, weighted
    double violation = 0.0;  // the largest, before the final repair
};

struct Multipliers {
    std::vector<Multiplier> triangles;
    double unit = 1.0;  // a power of two
};

// Keeps its triangles and multipliers between calls: a projection takes less
// time if its input is close to the previous one. A failed projection leaves
// them unchanged. Calls from several threads take turns.
class MetricProjector {
public:
    // A projector with a center needs a cap for each projection.
    explicit MetricProjector(int n_bins, bool has_center = false);
    int size() const { return n_bins_; }
    bool has_center() const { return d_ > n_bins_; }

    // The input is d x d, symmetric and finite, its diagonal zero; entries may
    // be negative. Weights are symmetric and positive, all 1 if null. The
    // metric obeys every triangle inequality exactly, in floating point.
    ProjectionReport project(const double* input, const double* weights,
                             const ProjectionOptions& options, double* metric);

    void forget(const Poll& poll);
    // The triangles that the next projection starts from. Multipliers are duals
    // times the unit. The center is bin n_bins.
    Multipliers multipliers(const Poll& poll) const;
    std::int64_t n_triangles(const Poll& poll) const;
    // Continues from the state of another projector. Throws if it is invalid.
    void set_multipliers(Multipliers multipliers, const Poll& poll);

private:
    struct Violated {
        int i, j, k;
        bool strong;  // almost as violated as the worst of its edge
    };
    using RowTask = std::function<void(int first, int last)>;

    void load(const double* input, const double* weights);
    void load_center();
    void set_center(std::vector<double>& matrix, double distance) const;
    void close_at_cap();
    bool is_stuck(int rounds, double relative_bound) const;
    std::vector<double> solve_exactly(const double* input, StopToken& stop);
    void for_row_blocks(const RowTask& task) const;
    void find_shortcuts(const std::vector<double>& matrix);
    bool repair();
    void close();
    bool lower_to_shortcuts();
    double distance_bound() const;
    std::size_t add_violated();
    bool is_violated(int i, int j) const;
    void search_rows(int first, int last, int most,
                     std::vector<Violated>& found) const;
    double norm(const std::vector<double>& matrix) const;
    void store(double* metric) const;

    std::size_t row(int i) const {
        return static_cast<std::size_t>(i) * stride_;
    }

    int n_bins_, d_, stride_;  // d_ counts the center
    Multipliers kept_;
    mutable CallMutex call_mutex_;

    // The rest belongs to a single projection.
    const ProjectionOptions* options_ = nullptr;
    double unit_ = 1.0;       // input = unit_ * x; a power of two
    double cap_ = 0.0;        // of x
    double rounding_ = 0.0;   // violations this small mean nothing
    double violation_ = 0.0;  // the largest of x
    WorkingSet set_;
    std::vector<double> x_;                     // the dual iterate, x(u)
    std::vector<double> weights_;               // for i < j
    std::vector<double> metric_;                // near x, a metric in the end
    std::vector<double> shortcut_;              // min_k m_ik + m_kj, for i < j
    std::vector<std::vector<Violated>> found_;  // for each block of rows
};

}  // namespace groundmetric
