// What both kinds of costs of sparse histograms check: bins that costs are
// listed for, and sets of histograms.
#pragma once

#include "bindings/bindings.h"
#include "sparse/sparse_masses.h"

// Where each of d bins is in `listed`, -1 for others.
inline std::vector<std::int32_t> places(const In<std::int32_t, 1>& listed,
                                        int d) {
    require_range(listed.data(), listed.shape(0), 0, d, "bins");
    std::vector<std::int32_t> place(static_cast<std::size_t>(d), -1);
    for (std::size_t k = 0; k < listed.shape(0); ++k)
        place[listed.data()[k]] = static_cast<std::int32_t>(k);
    return place;
}

inline void require_places(const gm::Support& used,
                           const std::vector<std::int32_t>& place) {
    for (int k = 0; k < used.size; ++k)
        if (place[used.bins[k]] < 0)
            throw std::invalid_argument("Bin " + std::to_string(used.bins[k]) +
                                        " has no costs.");
}

inline void require_comparable(const gm::SparseMasses& x,
                               const gm::SparseMasses& y, int n_bins,
                               bool symmetric) {
    require(x.n_bins() == n_bins && y.n_bins() == n_bins,
            "The histograms do not have " + std::to_string(n_bins) + " bins.");
    require(x.has_mass_of(y), "The two sets of histograms differ in mass.");
    require(!symmetric || &x == &y,
            "Distances are symmetric only within one set.");
}
