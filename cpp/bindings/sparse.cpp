#include <cmath>

#include "bindings/bindings.h"
#include "bindings/candidates.h"
#include "bindings/places.h"
#include "search/point_search.h"
#include "sparse/sparse_pairwise.h"
#include "transport/tree.h"

namespace {

void require_rising(const std::int32_t* bins, const std::int64_t* starts,
                    std::size_t n, int d) {
    for (std::size_t i = 0; i < n; ++i) {
        require(starts[i] < starts[i + 1] &&
                    2 * (starts[i + 1] - starts[i]) <= gm::kMaxNodes,
                "Row " + std::to_string(i) + " has no or too many bins.");
        std::int32_t before = -1;
        bool is_right = true;
        for (std::int64_t k = starts[i]; k < starts[i + 1]; ++k) {
            is_right = is_right && bins[k] > before && bins[k] < d;
            before = bins[k];
        }
        if (!is_right)
            throw std::invalid_argument("The bins of row " + std::to_string(i) +
                                        " are not rising, or out of range.");
    }
}

void init_sparse_masses(gm::SparseMasses* self, In<double, 1> values,
                        In<std::int32_t, 1> bins, In<std::int64_t, 1> starts,
                        int d, double total) {
    require_length(bins.shape(0), values.shape(0), "bins");
    require(starts.shape(0) >= 2 && starts.data()[0] == 0, "No rows.");
    const std::size_t n = starts.shape(0) - 1;
    require_length(values.shape(0), static_cast<std::size_t>(starts.data()[n]),
                   "values");
    for (std::size_t i = 0; i < n; ++i)
        require(starts.data()[i] <= starts.data()[i + 1], "starts must rise.");
    require_rising(bins.data(), starts.data(), n, d);
    new (self) gm::SparseMasses(values.data(), bins.data(), starts.data(),
                                static_cast<std::int64_t>(n), d, total);
}

// Where each of d bins is in `listed`, which has all bins that are used.
std::vector<std::int32_t> places_of(const In<std::int32_t, 1>& listed, int d,
                                    const gm::SparseMasses& used) {
    std::vector<std::int32_t> place = places(listed, d);
    for (std::int64_t i = 0; i < used.size(); ++i)
        require_places(used.row(i), place);
    return place;
}

template <class Source>
Out<double, 2> pairwise(const gm::SparseMasses& x, const gm::SparseMasses& y,
                        const Source& source, bool symmetric, bool reduced,
                        int n_threads, const Progress& progress) {
    Out<double, 2> distances = new_matrix(static_cast<std::size_t>(x.size()),
                                          static_cast<std::size_t>(y.size()));
    without_gil([&] {
        gm::pairwise(x, y, source, {symmetric, reduced},
                     {n_threads, make_poll(progress)}, distances.data());
    });
    return distances;
}

using Found = std::tuple<Out<std::int64_t, 1>, Out<double, 1>,
                         Out<std::int64_t, 1>, gm::SolveCounts>;

template <class Search>
Found search_for(const gm::Request& request, int n_threads,
                 const Progress& progress, Search search) {
    require(request.n_neighbors >= 1, "n_neighbors is " +
                                          std::to_string(request.n_neighbors) +
                                          ", but it must be at least 1.");
    gm::Neighborhoods found = without_gil(
        [&] { return search(gm::Threading{n_threads, make_poll(progress)}); });
    std::vector<double> distances;
    std::vector<std::int64_t> indices;
    for (const gm::Neighbor& neighbor : found.neighbors) {
        distances.push_back(neighbor.distance);
        indices.push_back(neighbor.index);
    }
    return {to_numpy(std::move(found.starts)), to_numpy(std::move(distances)),
            to_numpy(std::move(indices)), found.counts};
}

auto find(const gm::PointSearch& search, const gm::SparseMasses* queries,
          std::int64_t n_neighbors, double radius, int n_threads,
          const Progress& progress, std::int64_t first) {
    const gm::SparseMasses& base = search.base();
    if (queries != nullptr)
        require_comparable(*queries, base, base.n_bins(), false);
    const std::int64_t n = queries == nullptr ? base.size() : queries->size();
    gm::Request request{};
    request.n_neighbors = n_neighbors;
    request.radii.assign(static_cast<std::size_t>(n), radius);
    auto [starts, distances, indices, counts] = search_for(
        request, n_threads, progress, [&](const gm::Threading& threading) {
            return search.find(queries, first, request, false, threading);
        });
    return std::make_tuple(starts, distances, indices,
                           counts.n_solved + counts.n_stopped);
}

auto nearest_sparse(const gm::SparseMasses& queries,
                    const gm::SparseMasses& base, const gm::CostMatrix& cost,
                    In<std::int32_t, 1> row_bins,
                    In<std::int32_t, 1> column_bins, std::int64_t n_neighbors,
                    In<double, 1> radii, std::int64_t first, bool symmetric,
                    bool reduced, int n_threads) {
    require_comparable(queries, base, base.n_bins(), false);
    require_cost(cost, static_cast<int>(row_bins.shape(0)),
                 static_cast<int>(column_bins.shape(0)));
    require_length(radii.shape(0), static_cast<std::size_t>(queries.size()),
                   "radii");
    const gm::ListedCosts costs{cost,
                                places_of(row_bins, base.n_bins(), queries),
                                places_of(column_bins, base.n_bins(), base)};
    gm::Request request{};
    request.n_neighbors = n_neighbors;
    request.radii = to_vector(radii);
    const Progress silent;
    auto [starts, distances, indices, counts] = search_for(
        request, n_threads, silent, [&](const gm::Threading& threading) {
            return gm::nearest_sparse(queries, base, costs,
                                      {symmetric, reduced}, first, request,
                                      threading);
        });
    return std::make_tuple(starts, distances, indices,
                           counts.n_solved + counts.n_stopped);
}

// The same for the base among itself; and what it took.
auto find_among(const gm::PointSearch& search, std::int64_t n_neighbors,
                In<double, 1> radii, std::optional<In<std::int32_t, 1>> classes,
                bool same, const Lists& candidates, bool once, int n_threads) {
    const std::int64_t n = search.base().size();
    require_length(radii.shape(0), static_cast<std::size_t>(n), "radii");
    gm::Request request{};
    request.n_neighbors = n_neighbors;
    request.radii = to_vector(radii);
    request.candidates = as_candidates(n, classes, same, candidates);
    const Progress silent;
    auto [starts, distances, indices, counts] = search_for(
        request, n_threads, silent, [&](const gm::Threading& threading) {
            return search.find(nullptr, 0, request, once, threading);
        });
    return std::make_tuple(starts, distances, indices,
                           std::make_tuple(counts.n_solved, counts.n_stopped,
                                           counts.n_bounded, counts.n_pivots));
}

}  // namespace

void bind_sparse(nb::module_& m) {
    using gm::Points;
    using gm::SparseMasses;
    nb::class_<SparseMasses>(m, "SparseMasses",
                             "Sparse histograms as integer masses.")
        .def("__init__", &init_sparse_masses, "values"_a.noconvert(),
             "bins"_a.noconvert(), "starts"_a.noconvert(), "n_bins"_a,
             "total"_a)
        .def("__len__", &SparseMasses::size);

    nb::class_<Points>(m, "Points", "Coordinates of bins.")
        .def(
            "__init__",
            [](Points* self, In<double, 2> coordinates) {
                require(gm::are_finite(coordinates.data(), coordinates.size()),
                        "A coordinate is not finite.");
                new (self) Points(coordinates.data(),
                                  static_cast<int>(coordinates.shape(0)),
                                  static_cast<int>(coordinates.shape(1)));
            },
            "coordinates"_a.noconvert())
        .def("__len__", &Points::size);

    nb::class_<gm::PointSearch>(m, "PointSearch",
                                "Nearest neighbors for Euclidean costs.")
        .def(
            "__init__",
            [](gm::PointSearch* self, std::shared_ptr<SparseMasses> base,
               std::shared_ptr<Points> points) {
                require_comparable(*base, *base, points->size(), false);
                without_gil([&] {
                    new (self)
                        gm::PointSearch(std::move(base), std::move(points));
                });
            },
            "base"_a, "points"_a)
        .def(
            "find", &find, "queries"_a.none(), "n_neighbors"_a, "radius"_a,
            "n_threads"_a, "progress"_a.none(), nb::kw_only(), "first"_a = -1,
            "Starts, distances and indices of the n_neighbors nearest within "
            "the radius of each query, None for the base among itself; and the "
            "number of pairs that the simplex looked at. Queries are those of "
            "the base from first on, unless it is negative.")
        .def("find_among", &find_among, "n_neighbors"_a, "radii"_a.noconvert(),
             nb::kw_only(), "classes"_a.noconvert().none() = nb::none(),
             "same"_a = true, "candidates"_a.none() = nb::none(),
             "once"_a = false, "n_threads"_a = 1,
             "The same for the base among itself, of the same or of other "
             "classes, or of listed candidates, each pair once from the end "
             "with the larger radius or from both; and the numbers of pairs "
             "solved, stopped and bounded, and of pivots.");

    m.def(
        "pairwise_points",
        [](const SparseMasses& x, const SparseMasses& y, const Points& points,
           bool symmetric, int n_threads, const Progress& progress) {
            require_comparable(x, y, points.size(), symmetric);
            return pairwise(x, y, points, symmetric, true, n_threads, progress);
        },
        "x"_a, "y"_a, "points"_a, "symmetric"_a, "n_threads"_a,
        "progress"_a.none(), "All distances, for Euclidean costs.");
    m.def(
        "pairwise_sparse",
        [](const SparseMasses& x, const SparseMasses& y,
           const gm::CostMatrix& cost, In<std::int32_t, 1> row_bins,
           In<std::int32_t, 1> column_bins, bool symmetric, bool reduced,
           int n_threads, const Progress& progress) {
            require_comparable(x, y, x.n_bins(), symmetric);
            require_cost(cost, static_cast<int>(row_bins.shape(0)),
                         static_cast<int>(column_bins.shape(0)));
            const gm::ListedCosts costs{cost,
                                        places_of(row_bins, x.n_bins(), x),
                                        places_of(column_bins, x.n_bins(), y)};
            return pairwise(x, y, costs, symmetric, reduced, n_threads,
                            progress);
        },
        "x"_a, "y"_a, "cost"_a, "row_bins"_a.noconvert(),
        "column_bins"_a.noconvert(), "symmetric"_a, "reduced"_a, "n_threads"_a,
        "progress"_a.none(),
        "All distances, for costs between the bins that are listed.");
    m.def("nearest_sparse", &nearest_sparse, "queries"_a, "base"_a, "cost"_a,
          "row_bins"_a.noconvert(), "column_bins"_a.noconvert(),
          "n_neighbors"_a, "radii"_a.noconvert(), nb::kw_only(), "first"_a,
          "symmetric"_a, "reduced"_a, "n_threads"_a,
          "Starts, distances and indices of the n_neighbors nearest within the "
          "radius of each query, for costs between the bins that are listed; "
          "and the number of pairs that the simplex looked at. DenseQuery i is "
          "histogram first + i of the base, unless it is outside.");
}
