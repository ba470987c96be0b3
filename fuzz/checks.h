// Checks of results that prove themselves. All abort if one fails.
#pragma once

#include <vector>

#include "base/parallel.h"
#include "transport/certificate.h"

namespace groundmetric::fuzz {

// Prints what is wrong and aborts, which a fuzzer notices.
[[noreturn]] void fail(const char* what, double found, double allowed);

inline void require(bool is_right, const char* what, double found = 0.0,
                    double allowed = 0.0) {
    if (!is_right) fail(what, found, allowed);
}
// |a - b| <= slack.
void require_close(double a, double b, double slack, const char* what);

inline const Poll kGoOn = [](std::int64_t) { return true; };

// One pair: histograms of mass `total` each (rescaled if they differ), and
// costs, m x n.
struct Pair {
    std::vector<double> r, c, cost;
    double total;
    int m() const { return static_cast<int>(r.size()); }
    int n() const { return static_cast<int>(c.size()); }
    double largest_cost() const;
    // Whether no product of mass and potentials can be out of range.
    bool is_in_range() const;
};

// What a solve may be off by: 2^-46 of the largest potential on the bins of the
// pair, for each unit of mass; and the rounding of sums and of tiny costs.
double allowed_gap(const Certificate& proof, const Pair& pair);

// The plan is one, the potentials are feasible on all bins, and the gap is no
// larger than allowed.
void check_transport(const Certificate& proof, const Pair& pair);

// Solves the pair and checks the certificate.
Certificate solve(const Pair& pair);

}  // namespace groundmetric::fuzz
