// All distances between two sets of histograms.
#pragma once

#include <cstdint>
#include <optional>

#include "base/masses.h"
#include "base/parallel.h"
#include "base/solve_counts.h"
#include "hub/hub_simplex.h"
#include "hub/near_arcs.h"
#include "transport/cost.h"
#include "transport/simplex.h"

namespace groundmetric {

// Solves one pair after the other, through the hub where there is one.
class alignas(128) PairSolver {
public:
    SolveCounts counts;

    // Keeps references to both.
    PairSolver(const CostMatrix& matrix, const std::optional<NearArcs>& near)
        : matrix_(matrix) {
        if (near) hub_.emplace(matrix, *near);
    }

    // The distance, scaled and in units of mass; NaN if no plan avoids the
    // forbidden arcs, here and below. If it is unknown whether
    // common mass may stay, the result of the reduced problem is proved, or
    // that of the full one returned.
    double solve(const Mass* r, const Mass* c, Stay stay, StopToken& stop);

private:
    std::optional<double> solve_by_hub(const Mass* r, const Mass* c,
                                       bool reduced, StopToken& stop);
    void solve_densely(const Mass* r, const Mass* c, bool reduced,
                       StopToken& stop);

    const CostMatrix& matrix_;
    std::optional<HubSimplex> hub_;
    TransportSimplex dense_;
};

// Pairs handed to a thread at a time: a large one keeps it busy, and others if
// there are fewer pairs than threads.
std::int64_t pairs_per_task(const CostMatrix& matrix);

// The distance of one pair, scaled and in units of mass.
double distance(const Mass* r, const Mass* c, const CostMatrix& matrix,
                const Poll& poll);

struct PairwiseOptions {
    bool symmetric;  // x = y, and M is symmetric: solve half, mirror it
    bool hub;        // go through a hub if most of M equals its maximum
};

// distances[i * n + j] = d_M(x_i, y_j).
SolveCounts pairwise(const Masses& x, const Masses& y, const CostMatrix& matrix,
                     const PairwiseOptions& options, const Threading& threading,
                     double* distances);

}  // namespace groundmetric
