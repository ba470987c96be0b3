// A solved pair with a proof of optimality.
//
// Plan X in U(r, c) and potentials u, v with u_p + v_q <= M_pq for all p and q,
// including bins that took no part in the solve; then by weak duality
//
//     u'r + v'c  <=  d_M(r, c)  <=  <M, X>,
//
// and the difference of the two sides, the gap, is a few roundings.
#pragma once

#include <vector>

#include "base/masses.h"
#include "transport/cost.h"
#include "transport/simplex.h"

namespace groundmetric {

struct Certificate {
    double value = 0.0;  // <M, X>; NaN if there is no plan
    double dual_value = 0.0;
    std::vector<int> rows, columns;  // where X is positive, row by row
    std::vector<double> flow;
    std::vector<double> u, v;
    int n_pivots = 0;
    double forbidden = 0.0;  // mass that no plan keeps off forbidden arcs
    // False if common mass stayed although the cost does not allow it.
    bool is_valid = true;
};

// f(p) = min_q M_pq - v_q over the receiving bins q, for a reduced problem: by
// the triangle inequality f(p) - f(q) <= M_pq, and u = f, v = -f agree with the
// simplex on its bins. Scaled.
std::vector<double> lipschitz_potential(const TransportSimplex& simplex,
                                        const CostMatrix& matrix,
                                        StopToken& stop);
// The same from the sending bins, if M is symmetric: min_q M_pq - u_q over
// these, also 1-Lipschitz. The two differ on bins that took no part.
std::vector<double> sender_potential(const TransportSimplex& simplex,
                                     const CostMatrix& matrix, StopToken& stop);

// Whether the potentials of a reduced problem prove on all bins that common
// mass may stay where it is, in O(d^2). They do if M_pq <= M_pk + M_kq.
bool proves_that_mass_stays(const TransportSimplex& simplex,
                            const CostMatrix& matrix, StopToken& stop);

// u and v of a solved pair on all bins, scaled.
struct Potentials {
    std::vector<double> u, v;
};
Potentials potentials(const TransportSimplex& simplex, const CostMatrix& matrix,
                      bool reduced, StopToken& stop);

// The certificate of the pair (r, c) that `simplex` has just solved.
Certificate certify(const TransportSimplex& simplex, const Mass* r,
                    const Mass* c, double unit, const CostMatrix& matrix,
                    bool reduced, StopToken& stop);

// Solves one pair. Checking beforehand whether common mass may stay would take
// d^3 operations. Instead the reduced problem is tried first, unless a look at
// some triangles says no: if its potentials are feasible on all bins, a check
// of d^2 operations, the result is optimal.
Certificate transport(const Mass* r, const Mass* c, double unit,
                      const CostMatrix& matrix, const Poll& poll);

}  // namespace groundmetric
