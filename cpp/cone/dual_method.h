// The projection onto the cone by the dual method of Goldfarb and Idnani
// (Mathematical Programming 27, 1983): exact, but cubic in the number of edges.
//
// It starts at the input and makes one violated triangle inequality after the
// other active. Each step goes along the part of the new normal n that is
// orthogonal to the active ones, until the inequality holds. If a multiplier
// would become negative on the way, its triangle is dropped first. The dual
// rises at each step, and no step depends on how fast a series converges:
// weights of very different sizes do no harm. In z = W^1/2 x, with unit
// normals, the active ones are the columns of J [R; 0] with J orthogonal.
#pragma once

#include <cstddef>
#include <vector>

#include "base/parallel.h"
#include "cone/working_set.h"

namespace groundmetric {

class DualMethod {
public:
    // The input and its weights, for i < j, in rows that are stride apart.
    DualMethod(const double* input, const double* weights, int d, int stride);

    // False if rounding got in the way: the result is then not the projection.
    bool solve(StopToken& stop);

    // The projection, for i < j; its triangles hold up to rounding.
    void write(double* matrix, int stride) const;
    std::vector<Multiplier> multipliers() const;

private:
    struct Active {
        int i, j, k;
        Sides sides;
        double length;  // of W^-1/2 n
        double dual;    // of the unit normal
    };
    static constexpr int kNone = -1;

    int edge(int i, int j) const;
    double excess(const Active& t) const;
    bool find_violated(Active& worst) const;
    void polish();
    bool activate(Active t, StopToken& stop);
    void split_normal(const Active& t);
    int first_to_vanish(double& longest) const;
    void move(double step, bool is_dependent);
    void append(const Active& t);
    void remove(int l);
    void rotate_columns(int k, double cosine, double sine);

    double* column(int k) { return &basis_[static_cast<std::size_t>(k) * n_]; }
    double* factor(int k) {
        return &factor_[static_cast<std::size_t>(k) * (k + 1) / 2];
    }

    int d_, n_;                     // bins and edges
    std::int64_t steps_left_;       // more would mean that it goes in circles
    std::vector<double> x_, root_;  // x_e and w_e^-1/2
    std::vector<Active> active_;
    std::vector<char> is_active_;  // at edge * d + k
    std::vector<double> basis_;    // J, by columns
    std::vector<double> factor_;   // R, by columns, without what is below
    // Of the new normal: J' n, its part orthogonal to the active ones, and how
    // fast their multipliers fall.
    std::vector<double> rotated_, direction_, rates_;
    double square_ = 0.0;  // of the direction's length
};

}  // namespace groundmetric
