#include "batch/sparse_batch.h"

#include "bindings/pairs.h"
#include "bindings/places.h"

namespace {

using gm::SparseBatch;

void construct(SparseBatch* self, std::shared_ptr<gm::SparseMasses> x,
               std::shared_ptr<gm::SparseMasses> y, In<std::int64_t, 2> pairs,
               bool reduced) {
    require(x->has_mass_of(*y), "The two sets of histograms differ in mass.");
    require(x->n_bins() == y->n_bins(), "The histograms differ in bins.");
    require_shape(pairs, pairs.shape(0), 2, "pairs");
    const Progress silent;
    without_gil([&] {
        new (self) SparseBatch(std::move(x), std::move(y), pairs.data(),
                               static_cast<std::int64_t>(pairs.shape(0)),
                               reduced, make_poll(silent));
    });
}

void require_points(const SparseBatch& batch, const gm::Points& points) {
    require(points.size() == batch.x().n_bins(),
            "There are " + std::to_string(points.size()) + " points for " +
                std::to_string(batch.x().n_bins()) + " bins.");
}

gm::ListedCosts listed_costs(const SparseBatch& batch,
                             const gm::CostMatrix& cost,
                             const In<std::int32_t, 1>& row_bins,
                             const In<std::int32_t, 1>& column_bins,
                             const std::int64_t* chosen, std::size_t n) {
    require_cost(cost, static_cast<int>(row_bins.shape(0)),
                 static_cast<int>(column_bins.shape(0)));
    const int d = batch.x().n_bins();
    gm::ListedCosts costs{cost, places(row_bins, d), places(column_bins, d)};
    for (std::size_t k = 0; k < n; ++k) {
        require_places(batch.left(chosen[k]), costs.row_of);
        require_places(batch.right(chosen[k]), costs.column_of);
    }
    return costs;
}

using Solved = std::tuple<Out<double, 1>, Out<std::int32_t, 1>>;

template <class Source>
Solved solve(SparseBatch& batch, std::int64_t number, const Source& source,
             const In<std::int64_t, 1>& chosen, int n_threads) {
    require_distinct(chosen);
    const std::size_t n = chosen.shape(0);
    std::vector<double> values(n);
    std::vector<std::int32_t> n_pivots(n);
    const Progress silent;
    without_gil([&] {
        batch.solve(number, source, chosen.data(), static_cast<std::int64_t>(n),
                    {n_threads, make_poll(silent)}, values.data(),
                    n_pivots.data());
    });
    return {to_numpy(std::move(values)), to_numpy(std::move(n_pivots))};
}

Solved solve_points(SparseBatch& batch, std::int64_t number,
                    const gm::Points& points, In<std::int64_t, 1> chosen,
                    int n_threads) {
    require_pairs(batch, chosen);
    require_points(batch, points);
    return solve(batch, number, points, chosen, n_threads);
}

Solved solve_sparse(SparseBatch& batch, std::int64_t number,
                    const gm::CostMatrix& cost, In<std::int32_t, 1> row_bins,
                    In<std::int32_t, 1> column_bins, In<std::int64_t, 1> chosen,
                    int n_threads) {
    require_pairs(batch, chosen);
    const gm::ListedCosts costs = listed_costs(
        batch, cost, row_bins, column_bins, chosen.data(), chosen.shape(0));
    return solve(batch, number, costs, chosen, n_threads);
}

using Potentials = std::tuple<Out<std::int32_t, 1>, Out<double, 1>,
                              Out<std::int32_t, 1>, Out<double, 1>>;

template <class Source>
Potentials potentials(const SparseBatch& batch, std::int64_t number,
                      const Source& source, std::int64_t pair) {
    const Progress silent;
    gm::SparsePotentials found = without_gil([&] {
        return batch.potentials(number, source, pair, make_poll(silent));
    });
    return {to_numpy(std::move(found.rows)), to_numpy(std::move(found.u)),
            to_numpy(std::move(found.columns)), to_numpy(std::move(found.v))};
}

Potentials potentials_points(const SparseBatch& batch, std::int64_t number,
                             const gm::Points& points, std::int64_t pair) {
    require_range(&pair, 1, 0, batch.size(), "pair");
    require_points(batch, points);
    return potentials(batch, number, points, pair);
}

Potentials potentials_sparse(const SparseBatch& batch, std::int64_t number,
                             const gm::CostMatrix& cost,
                             In<std::int32_t, 1> row_bins,
                             In<std::int32_t, 1> column_bins,
                             std::int64_t pair) {
    require_range(&pair, 1, 0, batch.size(), "pair");
    return potentials(
        batch, number,
        listed_costs(batch, cost, row_bins, column_bins, &pair, 1), pair);
}

}  // namespace

void bind_sparse_batch(nb::module_& m) {
    nb::class_<SparseBatch>(m, "SparseBatch",
                            "Pairs of sparse histograms, solved repeatedly.")
        .def("__init__", &construct, "x"_a, "y"_a, "pairs"_a.noconvert(),
             "reduced"_a)
        .def("begin", &SparseBatch::begin, "The number of a new solve.")
        .def("solve_points", &solve_points, "number"_a, "points"_a,
             "chosen"_a.noconvert(), "n_threads"_a, "Values and pivots.")
        .def("solve_sparse", &solve_sparse, "number"_a, "cost"_a,
             "row_bins"_a.noconvert(), "column_bins"_a.noconvert(),
             "chosen"_a.noconvert(), "n_threads"_a,
             "The same for costs between the bins that are listed.")
        .def("plans", &plans_of<SparseBatch>, "number"_a,
             "chosen"_a.noconvert(),
             "Starts, rows, columns and flow of the plans of solve `number`.")
        .def("potentials_points", &potentials_points, "number"_a, "points"_a,
             "pair"_a, "Sending bins and their u, receiving bins and their v.")
        .def("potentials_sparse", &potentials_sparse, "number"_a, "cost"_a,
             "row_bins"_a.noconvert(), "column_bins"_a.noconvert(), "pair"_a)
        .def("__len__", &SparseBatch::size)
        .def("pairs", &pairs_of<SparseBatch>, "Rows (i, j), as given.")
        .def_prop_ro("n_bytes", &n_bytes_of<SparseBatch>);
}
