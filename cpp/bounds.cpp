#include "bounds.h"

#include <algorithm>
#include <cmath>

namespace groundmetric {

void raise_lower(const double* values, const std::int64_t* rows,
                 std::int64_t n_functions, std::int64_t n, std::int32_t first,
                 double* lower, std::int32_t* best) {
    constexpr std::int64_t kBlock = 16;
    for (std::int64_t s = 0; s < n_functions; ++s) {
        const double* z = values + s * n;
        const std::int64_t i = rows[s];
        const double here = z[i];
        const double* bounds = lower + i * n;
        for (std::int64_t begin = 0; begin < n; begin += kBlock) {
            const std::int64_t end = std::min(n, begin + kBlock);
            // Most blocks gain nothing, and that is seen fast.
            int n_gains = 0;
            for (std::int64_t j = begin; j < end; ++j)
                n_gains += std::abs(z[j] - here) > bounds[j];
            for (std::int64_t j = begin; n_gains > 0 && j < end; ++j) {
                const double gap = std::abs(z[j] - here);
                if (!(gap > bounds[j])) continue;
                lower[i * n + j] = lower[j * n + i] = gap;
                best[i * n + j] = best[j * n + i] =
                    first + static_cast<std::int32_t>(s);
            }
        }
    }
}

}  // namespace groundmetric
