// Bins on a line, where sorting takes the place of the simplex.
//
// If moving from x to y costs h(|x - y|) with h convex, plans that keep the
// order are optimal: for a <= b and c <= d, the arcs (a, c) and (b, d) together
// cost no more than (a, d) and (b, c) (Monge). Here h(t) is t or its square.
//
// Potentials, on all bins:
//
//     h(t) = t:    u = f, v = -f, and the slope of f is -1 where mass moves to
//                  the right, 1 where it moves to the left, 0 elsewhere
//     h(t) = t^2:  u_p + v_q = h(|x_p - x_q|) along a staircase that holds the
//                  plan, from the first bins to the last
//
// (Villani, Topics in Optimal Transportation, section 2.2; Hoffman's
// north-west corner rule, 1963.)
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.h"
#include "sparse/sparse_masses.h"
#include "transport/certificate.h"

namespace groundmetric {

class Line {
public:
    // Copies d finite coordinates, which rise with the bins.
    Line(const double* coordinates, int d, bool squared)
        : x_(coordinates, coordinates + d), squared_(squared) {}

    int size() const { return static_cast<int>(x_.size()); }
    // The EMD of a pair, in time proportional to the sizes of their supports.
    // `problem` is scratch.
    double distance(const Support& r, const Support& c, double unit,
                    Problem& problem) const;
    Certificate certificate(const Support& r, const Support& c,
                            double unit) const;

private:
    // Under |x - y|, a metric, common mass stays.
    void set_margins(const Support& r, const Support& c,
                     Problem& problem) const;
    double cost(int p, int q) const {
        const double way = x_[q] - x_[p];
        return squared_ ? way * way : way < 0.0 ? -way : way;
    }
    void set_slopes(const Support& r, const Support& c, Certificate& out) const;
    void climb_stairs(const Support& r, const Support& c,
                      Certificate& out) const;

    std::vector<double> x_;
    bool squared_;
};

// distances[i * n + j] = the EMD of x_i and y_j; if `symmetric`, x = y.
void pairwise(const SparseMasses& x, const SparseMasses& y, const Line& line,
              bool symmetric, const Threading& threading, double* distances);

// distances[k] = the EMD of x_i and y_j, (i, j) = pairs[2k], pairs[2k + 1].
void in_pairs(const SparseMasses& x, const SparseMasses& y, const Line& line,
              const std::int64_t* pairs, std::int64_t n,
              const Threading& threading, double* distances);

}  // namespace groundmetric
