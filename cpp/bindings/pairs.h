// What both kinds of batches check and return.
#pragma once

#include <algorithm>
#include <functional>

#include "batch/plans.h"
#include "bindings/bindings.h"

template <class Batch>
void require_pairs(const Batch& batch, const In<std::int64_t, 1>& chosen) {
    require_range(chosen.data(), chosen.shape(0), 0, batch.size(), "chosen");
}

// Two threads must not solve the same pair.
inline void require_distinct(const In<std::int64_t, 1>& chosen) {
    const std::int64_t *begin = chosen.data(), *end = begin + chosen.shape(0);
    if (std::is_sorted(begin, end, std::less_equal<>())) return;
    std::vector<std::int64_t> sorted(begin, end);
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    require(twice == sorted.end(),
            "chosen names pair " +
                std::to_string(twice == sorted.end() ? 0 : *twice) + " twice.");
}

template <class Batch>
Out<std::int64_t, 2> pairs_of(const Batch& batch) {
    const auto n = static_cast<std::size_t>(batch.size());
    Out<std::int64_t, 2> pairs = new_matrix<std::int64_t>(n, 2);
    batch.write_pairs(pairs.data());
    return pairs;
}

template <class Batch>
std::int64_t n_bytes_of(const Batch& batch) {
    const Progress silent;
    return without_gil([&] { return batch.n_bytes(make_poll(silent)); });
}

// Starts, rows, columns and flow of the plans of some pairs.
template <class Batch>
std::tuple<Out<std::int64_t, 1>, Out<std::int32_t, 1>, Out<std::int32_t, 1>,
           Out<double, 1>>
plans_of(const Batch& batch, std::int64_t number, In<std::int64_t, 1> chosen) {
    require_pairs(batch, chosen);
    const Progress silent;
    gm::Plans found = without_gil([&] {
        return batch.plans(number, chosen.data(),
                           static_cast<std::int64_t>(chosen.shape(0)),
                           make_poll(silent));
    });
    return {to_numpy(std::move(found.starts)), to_numpy(std::move(found.rows)),
            to_numpy(std::move(found.columns)),
            to_numpy(std::move(found.flow))};
}
