// Lower bounds of distances from Lipschitz functions: |f'(x_i - x_j)| <= d_M.
#pragma once

#include <cstdint>

namespace groundmetric {

// Raises lower[i * n + j] and lower[j * n + i] to |z_i - z_j| for i = rows[s]
// and all j, where z = values + s * n holds f'x_1 .. f'x_n of the s-th
// function; where it does, best becomes first + s.
void raise_lower(const double* values, const std::int64_t* rows,
                 std::int64_t n_functions, std::int64_t n, std::int32_t first,
                 double* lower, std::int32_t* best);

}  // namespace groundmetric
