// The arcs of a thresholded cost: the few below its maximum.
//
// If most entries of a cost matrix equal its maximum t, as those of min(M, t)
// do, mass that moves at price t can go through one hub: p -> hub at t, hub ->
// q at 0. The other arcs are those below t (Pele & Werman, Fast and Robust
// Earth Mover's Distances, ICCV 2009; the paper, section 8.2).
#pragma once

#include <optional>
#include <vector>

#include "transport/cost.h"
#include "transport/problem.h"

namespace groundmetric {

// Arcs row by row, the cheapest first: those of row i are at begin[i] and on,
// up to begin[i + 1].
struct ArcRows {
    std::vector<int> begin;
    std::vector<int> column;
    std::vector<double> cost;
};

class NearArcs {
public:
    // Empty if too few entries equal the maximum for the hub to pay off.
    static std::optional<NearArcs> of(const CostMatrix& matrix);

    double threshold() const { return threshold_; }

    // The arcs between the bins of the problem. Each row ends with its arc to
    // the hub, column problem.n_columns(), and is padded with arcs of cost
    // kHuge to a multiple of kLanes. `where` is scratch.
    void gather(const Problem& problem, std::vector<int>& where,
                ArcRows& arcs) const;

private:
    NearArcs(const CostMatrix& matrix, double threshold);

    double threshold_;
    int n_columns_;
    ArcRows all_;  // between all bins
};

}  // namespace groundmetric
