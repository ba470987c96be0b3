#include "bindings.h"
#include "search.h"

namespace {

// How many neighbors each query has; their distances and their indices.
using Found =
    std::tuple<Out<std::int64_t, 1>, Out<double, 1>, Out<std::int64_t, 1>>;

Found find(const gm::NeighborSearch& search, const gm::Masses* queries,
           std::int64_t n_neighbors, double radius, int n_threads,
           const Progress& progress) {
    std::vector<std::int64_t> counts, indices;
    std::vector<double> distances;
    without_gil([&] {
        const gm::Reach reach{n_neighbors, radius};
        const gm::Threading threading{n_threads, make_poll(progress)};
        const gm::Neighbors found =
            queries == nullptr ? search.find_among_base(reach, threading)
                               : search.find(*queries, reach, threading);
        for (const std::vector<gm::Neighbor>& row : found) {
            counts.push_back(static_cast<std::int64_t>(row.size()));
            for (const gm::Neighbor& neighbor : row) {
                distances.push_back(neighbor.distance);
                indices.push_back(neighbor.index);
            }
        }
    });
    return {to_numpy(std::move(counts)), to_numpy(std::move(distances)),
            to_numpy(std::move(indices))};
}

}  // namespace

void bind_search(nb::module_& m) {
    nb::class_<gm::NeighborSearch>(m, "NeighborSearch",
                                   "Nearest neighbors, few pairs solved.")
        .def(
            "__init__",
            [](gm::NeighborSearch* self, std::shared_ptr<gm::Masses> base,
               std::shared_ptr<gm::CostMatrix> cost) {
                new (self) gm::NeighborSearch(std::move(base), std::move(cost));
            },
            "base"_a, "cost"_a)
        .def("find", &find, "queries"_a.none(), "n_neighbors"_a, "radius"_a,
             "n_threads"_a, "progress"_a.none(),
             "Counts of neighbors, their distances and their indices; None "
             "for the base among themselves.")
        .def_prop_ro("n_solves", &gm::NeighborSearch::n_solves,
                     "Pairs that the simplex looked at in the last find.");
}
