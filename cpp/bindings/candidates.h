// Which histograms of the base each of them is compared with, as Python gives
// them.
#pragma once

#include <nanobind/stl/string.h>

#include <algorithm>

#include "bindings/bindings.h"
#include "search/candidates.h"

using Lists =
    std::optional<std::tuple<In<std::int64_t, 1>, In<std::int32_t, 1>>>;

// starts, members: lists of base histograms, one for each of n queries.
inline std::pair<std::vector<std::int64_t>, std::vector<std::int32_t>> as_lists(
    const Lists& lists, std::size_t n, std::int64_t n_base,
    const std::string& name) {
    if (!lists) return {};
    std::vector<std::int64_t> starts = to_vector(std::get<0>(*lists));
    std::vector<std::int32_t> members = to_vector(std::get<1>(*lists));
    const bool is_right =
        starts.size() == n + 1 && starts.front() == 0 &&
        starts.back() == static_cast<std::int64_t>(members.size()) &&
        std::is_sorted(starts.begin(), starts.end());
    require(is_right, name + " must hold " + std::to_string(n) +
                          " lists: their starts, from 0, and their members.");
    require_range(members.data(), members.size(), 0, n_base, name);
    return {std::move(starts), std::move(members)};
}

// Of n_base histograms among each other.
inline gm::Candidates as_candidates(
    std::int64_t n_base, const std::optional<In<std::int32_t, 1>>& classes,
    bool same, const Lists& listed) {
    const std::size_t n = static_cast<std::size_t>(n_base);
    if (listed) {
        auto [starts, members] = as_lists(listed, n, n_base, "candidates");
        return gm::Candidates(std::move(starts), std::move(members));
    }
    if (!classes) return {};
    require_length(classes->shape(0), n, "classes");
    return gm::Candidates(to_vector(*classes), same);
}
