// The work that solves took, and how pairs were handled.
#pragma once

#include <cstdint>

namespace groundmetric {

struct SolveCounts {
    std::int64_t n_solved = 0;   // pairs, to the optimum
    std::int64_t n_stopped = 0;  // once the simplex proved them too far
    std::int64_t n_bounded = 0;  // ruled out by bounds alone
    std::int64_t n_pivots = 0;
    std::int64_t n_by_hub = 0;  // pairs solved through a hub
    std::int64_t n_priced = 0;  // arcs, in these

    SolveCounts& operator+=(const SolveCounts& other) {
        n_solved += other.n_solved;
        n_stopped += other.n_stopped;
        n_bounded += other.n_bounded;
        n_pivots += other.n_pivots;
        n_by_hub += other.n_by_hub;
        n_priced += other.n_priced;
        return *this;
    }
};

}  // namespace groundmetric
