// Passes over the rows of a large matrix, on several threads.
//
// Rows are always split into the same blocks, whatever the number of threads
// is: what is summed up within a block, and then over the blocks in order, does
// not depend on it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/parallel.h"

namespace groundmetric {

inline constexpr int kRowBlock = 128;
// A pass over a smaller matrix takes no longer than waking threads up.
inline constexpr std::int64_t kWorthThreads = 1 << 19;

constexpr int n_row_blocks(int n_rows) {
    return (n_rows + kRowBlock - 1) / kRowBlock;
}

// Calls body(begin, end) for each block of rows of `length` entries, with the
// help of the thread's team if that pays off.
template <class RowBody>
void for_row_blocks(int n_rows, int length, StopToken& stop,
                    const RowBody& body) {
    const int n_blocks = n_row_blocks(n_rows);
    const bool is_large =
        static_cast<std::int64_t>(n_rows) * length >= kWorthThreads;
    const auto run = [&](std::int64_t block) {
        const int begin = static_cast<int>(block) * kRowBlock;
        body(begin, std::min(begin + kRowBlock, n_rows));
    };
    if (Team* team = is_large ? stop.team(n_blocks) : nullptr) {
        team->run(n_blocks, stop, run);
        return;
    }
    for (int block = 0; block < n_blocks; ++block) {
        if (is_large) stop.check();
        run(block);
    }
}

}  // namespace groundmetric
