// The dual of the projection, on a few of the triangles.
//
// The projection of A onto the metric cone minimizes, over edges e = {i, j},
//     1/2 sum_e w_e (x_e - a_e)^2   subject to   n_t' x <= 0 for all t,
// where triangle t has one far edge (+1 in n_t) and two near ones (-1). With
// multipliers u >= 0 the minimizer of the Lagrangian is x(u) = a - W^-1 N u,
// and the dual asks for the u that makes 1/2 sum_e w_e x_e(u)^2 least. Its
// gradient is -N'x(u): minus the violations. Only the triangles of the set may
// have a positive multiplier.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/parallel.h"
#include "cone/conjugate_gradients.h"

namespace groundmetric {

// A triangle m_ij <= m_ik + m_kj and its dual, u_t >= 0.
struct Multiplier {
    int i, j, k;
    double dual;
};

// clear() removes everything: a failure half-way, for instance for lack of
// memory, does not affect what follows the next load().
class WorkingSet {
public:
    // All matrices have d rows, stride apart.
    WorkingSet(int d, int stride);

    void clear();

    // A new problem: `matrix` holds the input, and later what write() wrote.
    // The set becomes these triangles, with their duals times dual_factor.
    // Returns false if one occurs twice.
    bool load(const double* matrix, const double* weights,
              const std::vector<Multiplier>& multipliers, double dual_factor);

    // These triangles instead, for the same problem.
    void replace(const std::vector<Multiplier>& multipliers);

    // Adds m_ij <= m_ik + m_kj; false if it is already there. Not between
    // improve(), which reorders the triangles, and drop_idle().
    bool add(int i, int j, int k, double dual = 0.0);

    // Improves the multipliers until the residual is `reduction` times what it
    // was, or until sum_t u_t max(0, |n_t' x| - rounding) <= gap_goal.
    // For a rough reduction, Hildreth's sweeps suffice.
    void improve(double reduction, double gap_goal, double rounding,
                 StopToken& stop);

    // Drops triangles that have had no multiplier for some rounds.
    void drop_idle();

    // Writes x(u), computed afresh, to both halves of the matrix.
    void write(double* matrix);

    // sum_t u_t max(0, slack_t(y) - rounding).
    double complementarity(const double* y, double rounding) const;

    // All triangles, as they were added.
    std::vector<Multiplier> multipliers() const;

    std::size_t size() const { return triangles_.size(); }
    // Passes over triangles since the load.
    int n_sweeps() const { return n_sweeps_; }
    std::int64_t n_visits() const { return n_visits_; }  // of one triangle

private:
    struct Place {
        int upper, lower;  // i * stride + j and j * stride + i, i < j
    };
    struct Residual {
        double energy = 0.0;       // sum of scale_t (n_t' x)^2 where not slack
        double gap = 0.0;          // sum of u_t max(0, |n_t' x| - rounding)
        std::size_t released = 0;  // multipliers that became zero
    };

    static constexpr int kMinSteps =
        10;  // of conjugate gradients, while signs change
    static constexpr int kMaxSteps = 80;  // once they do not

    int edge(int i, int j);
    double scale(const Sides& s) const;
    // x <- x - step W^-1 n
    void shift(const Sides& s, double step) {
        value_[s.far] -= step * inverse_[s.far];
        value_[s.near] += step * inverse_[s.near];
        value_[s.other] += step * inverse_[s.other];
    }
    void refresh();  // x <- a - W^-1 N u
    void link();
    void count(int n_sweeps, std::size_t n);
    Residual sweep(std::size_t n, double rounding);
    std::size_t gather_active();
    void accelerate(std::size_t n, double energy_goal, double gap_goal,
                    double rounding, StopToken& stop);
    double clip_gain(std::size_t n);

    // In working_set_capped.cpp.
    bool is_cap(const Triangle& t) const;
    std::size_t pin_caps(std::size_t& n);
    void accelerate_capped(std::size_t n, double energy_goal, double gap_goal,
                           double rounding, StopToken& stop);
    void find_steps(std::size_t n_free, std::size_t n);
    double try_steps(std::size_t n_free, std::size_t n, double share);

    int stride_;
    const double* matrix_ = nullptr;
    const double* weights_ = nullptr;
    std::vector<int> slot_;        // edge at i * stride + j, or -1
    std::vector<Place> place_;     // of each edge
    std::vector<double> start_;    // a_e
    std::vector<double> value_;    // x_e
    std::vector<double> inverse_;  // 1 / w_e
    std::vector<Triangle> triangles_;
    std::vector<int> newest_;  // triangle with this far edge, or -1
    std::vector<int> next_;    // one more with the same far edge, or -1
    bool is_linked_ = true;    // these two are those of triangles_
    ConjugateGradients conjugate_gradients_;
    bool has_caps_ = false;
    std::vector<double> pinned_inverse_;  // 0 for edges at their cap
    std::vector<double> base_;            // x before a step
    std::vector<double> steps_;           // of duals
    int max_steps_ = 0, n_sweeps_ = 0;
    std::int64_t n_visits_ = 0;
};

}  // namespace groundmetric
