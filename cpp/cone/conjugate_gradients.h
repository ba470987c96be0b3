// Conjugate gradients on a face of the dual: a few multipliers free, of either
// sign, all others zero. See working_set.h for the problem.
#pragma once

#include <cstddef>
#include <vector>

#include "base/parallel.h"

namespace groundmetric {

// The edges of a triangle inequality: far <= near + other.
struct Sides {
    int far, near, other;
};

struct Triangle {
    Sides sides;
    int idle;      // rounds without a multiplier
    double scale;  // 1 / (n' W^-1 n), the inverse of the dual's diagonal
    double dual;   // u_t >= 0
};

inline double violation(const std::vector<double>& x, const Sides& s) {
    return x[s.far] - x[s.near] - x[s.other];
}

class ConjugateGradients {
public:
    // The first n triangles, with the values of all edges and 1 / w.
    void load(const std::vector<Triangle>& triangles, std::size_t n,
              const std::vector<double>& value,
              const std::vector<double>& inverse);

    // Steps until the energy, sum_t scale_t (n_t' x)^2, or the gap,
    // sum_t |u_t| max(0, |n_t' x| - rounding), is at its goal, at most
    // max_steps. Returns the number of steps.
    int descend(int max_steps, double energy_goal, double gap_goal,
                double rounding, StopToken& stop);

    // Writes the values back.
    void store(std::vector<double>& value) const;

    double dual(std::size_t k) const { return dual_[k]; }
    double first_violation(std::size_t k) const { return first_[k]; }

private:
    void set_direction(double ratio);  // p <- scale r + ratio p, and N p
    double curvature() const;
    // u <- u + length p, x <- x - length W^-1 N p.
    void move(double length, double rounding);

    // Edges are renumbered, so that those of the face lie close together.
    std::vector<int> local_, edges_;
    std::vector<Sides> sides_;
    std::vector<double> x_, inverse_, image_;
    std::vector<double> dual_, scale_, first_, residual_, direction_;
    double energy_ = 0.0, gap_ = 0.0;
};

}  // namespace groundmetric
