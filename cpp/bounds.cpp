#include "bounds.h"

#include <cmath>

namespace groundmetric {

void raise_lower(const double* values, const std::int64_t* rows,
                 std::int64_t n_functions, std::int64_t n, double* lower) {
    for (std::int64_t s = 0; s < n_functions; ++s) {
        const double* z = values + s * n;
        const double here = z[rows[s]];
        double* bounds = lower + rows[s] * n;
        for (std::int64_t j = 0; j < n; ++j) {
            const double gap = std::abs(z[j] - here);
            bounds[j] = gap > bounds[j] ? gap : bounds[j];
        }
    }
}

}  // namespace groundmetric
