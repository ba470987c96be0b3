// The projection by a direct method, once the iterative one makes no progress.
//
// The more the weights differ, the longer sweeps and conjugate gradients take:
// an edge of small weight between edges of large weights passes changes on in
// small steps only. The direct method does not depend on the weights.
#include "cone/dual_method.h"
#include "cone/projector.h"

namespace groundmetric {

namespace {

// The direct method takes time cubic in the number of edges, and memory
// quadratic: 12 MB for a thousand edges, 48 for two.
constexpr std::int64_t kMostEdges = 2016;  // of 64 bins
// It takes over once kPatience triangles and this share of the cube have been
// visited, those of the oracle included; earlier if the bound is not even below
// kFar.
constexpr std::int64_t kPatience = 10'000;
constexpr std::int64_t kShareNear = 16, kShareFar = 32;
constexpr double kFar = 0.01;
// What else a round takes, in visits: it matters where there are few triangles.
constexpr std::int64_t kPerRound = 500;

}  // namespace

bool MetricProjector::is_stuck(int rounds, double relative_bound) const {
    const std::int64_t n = static_cast<std::int64_t>(d_) * (d_ - 1) / 2;
    const std::int64_t share = relative_bound > kFar ? kShareFar : kShareNear;
    const std::int64_t visits = set_.n_visits() + rounds * (d_ * n + kPerRound);
    return n <= kMostEdges && visits > kPatience + n * n * n / share;
}

// The set gets the triangles of the solution. Returns the solution itself,
// which is more accurate than x(u) where weights are small: that divides the
// rounding of multipliers by them. Empty if there is none.
std::vector<double> MetricProjector::solve_exactly(const double* input,
                                                   StopToken& stop) {
    std::vector<double> solution = x_;
    for (int i = 0; i < n_bins_; ++i)
        for (int j = 0; j < n_bins_; ++j)
            solution[row(i) + j] =
                input[static_cast<std::size_t>(i) * n_bins_ + j] / unit_;
    DualMethod method(solution.data(), weights_.data(), d_, stride_);
    if (!method.solve(stop)) return {};
    set_.replace(method.multipliers());
    method.write(solution.data(), stride_);
    return solution;
}

}  // namespace groundmetric
