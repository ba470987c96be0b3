#include "search/dense_search.h"

#include <nanobind/stl/string.h>

#include "bindings/bindings.h"
#include "bindings/candidates.h"

namespace {

// The neighbors found, and the search: sums of plans need both.
struct Found {
    std::shared_ptr<const gm::DenseSearch> search;
    bool among_base;
    gm::Neighborhoods neighborhoods;
};

Found find(const std::shared_ptr<gm::DenseSearch>& search,
           const gm::Masses* queries, std::int64_t n_neighbors,
           In<double, 1> radii, std::optional<In<std::int32_t, 1>> classes,
           bool same, const Lists& candidates, const Lists& hints,
           bool keep_trees,
           std::optional<std::tuple<std::int64_t, std::int64_t>> within,
           int n_threads, const Progress& progress) {
    const gm::Masses& base = search->base();
    const gm::Masses& asking = queries == nullptr ? base : *queries;
    const std::size_t n = static_cast<std::size_t>(asking.size());
    require(asking.n_bins() == base.n_bins(),
            "The queries have " + std::to_string(asking.n_bins()) +
                " bins, but the base has " + std::to_string(base.n_bins()) +
                ".");
    require_same_mass(asking, base);
    require(n_neighbors >= 1, "n_neighbors is " + std::to_string(n_neighbors) +
                                  ", but it must be at least 1.");
    require_length(radii.shape(0), n, "radii");
    auto [hint_starts, hint_members] = as_lists(hints, n, base.size(), "hints");
    const auto [first, end] = within.value_or(std::tuple(0, base.size()));
    require(0 <= first && first <= end && end <= base.size() &&
                (!within || queries == nullptr),
            "within must be a range of the base, and there are no queries.");
    const gm::Request request{
        n_neighbors,
        to_vector(radii),
        as_candidates(base.size(), classes, same, candidates),
        std::move(hint_starts),
        std::move(hint_members),
        keep_trees,
        first,
        end};
    return without_gil([&] {
        return Found{
            search, queries == nullptr,
            search->find(queries, request, {n_threads, make_poll(progress)})};
    });
}

template <class T, class Get>
Out<T, 1> each_neighbor(const Found& found, Get get) {
    std::vector<T> values;
    values.reserve(found.neighborhoods.neighbors.size());
    for (const gm::Neighbor& neighbor : found.neighborhoods.neighbors)
        values.push_back(get(neighbor));
    return to_numpy(std::move(values));
}

auto count_of(std::int64_t gm::SolveCounts::* member) {
    return [member](const Found& self) {
        return self.neighborhoods.counts.*member;
    };
}

Out<double, 2> plan_sum(const Found& found, In<double, 1> weights,
                        bool spread) {
    require(found.among_base,
            "Sums of plans are only for neighbors found among the base.");
    require_length(weights.shape(0), found.neighborhoods.neighbors.size(),
                   "weights");
    const std::size_t d =
        static_cast<std::size_t>(found.search->base().n_bins());
    Out<double, 2> sums = new_matrix(d, d);
    const Progress silent;
    without_gil([&] {
        const auto sum =
            spread ? &gm::DenseSearch::spread_sum : &gm::DenseSearch::plan_sum;
        (*found.search.*sum)(found.neighborhoods, weights.data(),
                             {1, make_poll(silent)}, sums.data());
    });
    return sums;
}

}  // namespace

void bind_dense_search(nb::module_& m) {
    nb::class_<Found>(m, "Found", "Neighbors, query by query.")
        .def_prop_ro(
            "starts",
            [](const Found& self) {
                return to_numpy(self.neighborhoods.starts);
            },
            kOwned)
        .def_prop_ro(
            "distances",
            [](const Found& self) {
                return each_neighbor<double>(self,
                                             [](const gm::Neighbor& neighbor) {
                                                 return neighbor.distance;
                                             });
            },
            kOwned)
        .def_prop_ro(
            "indices",
            [](const Found& self) {
                return each_neighbor<std::int64_t>(
                    self, [](const gm::Neighbor& neighbor) {
                        return neighbor.index;
                    });
            },
            kOwned)
        .def_prop_ro("n_solved", count_of(&gm::SolveCounts::n_solved))
        .def_prop_ro("n_stopped", count_of(&gm::SolveCounts::n_stopped))
        .def_prop_ro("n_bounded", count_of(&gm::SolveCounts::n_bounded))
        .def_prop_ro("n_pivots", count_of(&gm::SolveCounts::n_pivots))
        .def("plan_sum", &plan_sum, "weights"_a.noconvert(), nb::kw_only(),
             "spread"_a = false,
             "Weighted sum of the optimal plans of all neighbors; or of the "
             "most spread ones for the uniform metric.");

    nb::class_<gm::DenseSearch>(m, "DenseSearch",
                                "Nearest neighbors, few pairs solved.")
        .def(
            "__init__",
            [](gm::DenseSearch* self, std::shared_ptr<gm::Masses> base,
               std::shared_ptr<gm::CostMatrix> cost) {
                require_cost(*cost, base->n_bins(), base->n_bins());
                const Progress silent;
                without_gil([&] {
                    new (self) gm::DenseSearch(std::move(base), std::move(cost),
                                               make_poll(silent));
                });
            },
            "base"_a, "cost"_a)
        .def("find", &find, "queries"_a.none(), "n_neighbors"_a,
             "radii"_a.noconvert(), nb::kw_only(),
             "classes"_a.noconvert().none() = nb::none(), "same"_a = true,
             "candidates"_a.none() = nb::none(), "hints"_a.none() = nb::none(),
             "keep_trees"_a = false, "within"_a.none() = nb::none(),
             "n_threads"_a = 1, "progress"_a.none() = nb::none(),
             "The n_neighbors nearest within the radius of each query; None "
             "for the base among itself, or for a range of it; then of the "
             "same or of other classes, or of listed candidates.")
        .def_prop_ro("n_solves", &gm::DenseSearch::n_solves,
                     "Pairs that the simplex looked at in the last find.");
}
