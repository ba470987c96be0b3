// Plain triangle fixing, the peer of our projection: Brickell, Dhillon, Sra and
// Tropp (2008), Algorithm 3.1. Hildreth's method, cyclically over all triangle
// inequalities, with every dual stored.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace {

// Projects onto far <= near + other after undoing the last correction, which
// is dual * (1, -1, -1).
inline void fix(double& far, double& near, double& other, double& dual) {
    const double excess = (far - near - other) * (1.0 / 3.0);
    const double step = std::max(excess, -dual);
    dual += step;
    far -= step;
    near += step;
    other += step;
}

// One cycle over all i < j < k, three inequalities each.
void sweep(double* x, int d, double* dual) {
    for (int i = 0; i < d; ++i) {
        double* const row_i = x + static_cast<std::size_t>(i) * d;
        for (int j = i + 1; j < d; ++j) {
            double* const row_j = x + static_cast<std::size_t>(j) * d;
            double ij = row_i[j];
            for (int k = j + 1; k < d; ++k, dual += 3) {
                double ik = row_i[k], jk = row_j[k];
                fix(ij, ik, jk, dual[0]);
                fix(ik, ij, jk, dual[1]);
                fix(jk, ij, ik, dual[2]);
                row_i[k] = ik;
                row_j[k] = jk;
            }
            row_i[j] = ij;
        }
    }
}

}  // namespace

// Projects the d x d matrix, symmetric and zero on the diagonal, until its
// upper triangle is within tol, relatively, of the truth: a stopping rule that
// the method does not have, given to it for free. Returns the number of sweeps.
extern "C" int triangle_fixing(double* matrix, int d, const double* truth,
                               double tol, int max_sweeps) {
    std::vector<double> dual(static_cast<std::size_t>(d) * (d - 1) / 2 *
                             std::max(d - 2, 0));
    for (int n = 1; n <= max_sweeps; ++n) {
        sweep(matrix, d, dual.data());
        double error = 0.0, norm = 0.0;
        for (int i = 0; i < d; ++i)
            for (int j = i + 1; j < d; ++j) {
                const double t = truth[static_cast<std::size_t>(i) * d + j];
                const double off =
                    matrix[static_cast<std::size_t>(i) * d + j] - t;
                error += off * off;
                norm += t * t;
            }
        if (std::sqrt(error) <= tol * std::sqrt(norm)) return n;
    }
    return -1;
}
