#include "batch/dense_batch.h"

#include "bindings/pairs.h"

namespace {

void require_bins(const gm::DenseBatch& batch, const gm::CostMatrix& cost) {
    require_cost(cost, batch.n_rows(), batch.n_columns());
}

void construct(gm::DenseBatch* self, std::shared_ptr<gm::Masses> x,
               std::shared_ptr<gm::Masses> y, In<std::int64_t, 2> pairs) {
    require_same_mass(*x, *y);
    require_shape(pairs, pairs.shape(0), 2, "pairs");
    const Progress silent;
    without_gil([&] {
        new (self) gm::DenseBatch(std::move(x), std::move(y), pairs.data(),
                                  static_cast<std::int64_t>(pairs.shape(0)),
                                  make_poll(silent));
    });
}

const char* name_of(gm::DenseBatch::Proof proof) {
    switch (proof) {
        case gm::DenseBatch::Proof::triangles:
            return "triangles";
        case gm::DenseBatch::Proof::potentials:
            return "potentials";
        default:
            return "none";
    }
}

std::tuple<std::int64_t, const char*, Out<double, 1>, Out<std::int32_t, 1>>
solve(gm::DenseBatch& batch, const gm::CostMatrix& cost,
      In<std::int64_t, 1> chosen, int n_threads, const Progress& progress) {
    const std::size_t n = chosen.shape(0);
    require_bins(batch, cost);
    require_pairs(batch, chosen);
    require_distinct(chosen);
    std::vector<double> values(n);
    std::vector<std::int32_t> n_pivots(n);
    const gm::DenseBatch::Solve done = without_gil([&] {
        return batch.solve(cost, chosen.data(), static_cast<std::int64_t>(n),
                           {n_threads, make_poll(progress)}, values.data(),
                           n_pivots.data());
    });
    return std::make_tuple(done.number, name_of(done.proof),
                           to_numpy(std::move(values)),
                           to_numpy(std::move(n_pivots)));
}

Out<double, 2> plan_sum(const gm::DenseBatch& batch, std::int64_t number,
                        In<std::int64_t, 1> chosen, In<double, 1> weights) {
    require_pairs(batch, chosen);
    require_length(weights.shape(0), chosen.shape(0), "weights");
    Out<double, 2> sums =
        new_matrix(static_cast<std::size_t>(batch.n_rows()),
                   static_cast<std::size_t>(batch.n_columns()));
    const Progress silent;
    without_gil([&] {
        batch.plan_sum(number, chosen.data(), weights.data(),
                       static_cast<std::int64_t>(chosen.shape(0)),
                       make_poll(silent), sums.data());
    });
    return sums;
}

gm::Certificate certificate(const gm::DenseBatch& batch, std::int64_t number,
                            const gm::CostMatrix& cost, std::int64_t pair) {
    require_bins(batch, cost);
    require(pair >= 0 && pair < batch.size(),
            "pair is " + std::to_string(pair) + ", but there are " +
                std::to_string(batch.size()) + " pairs.");
    const Progress silent;
    return without_gil([&] {
        return batch.certificate(number, cost, pair, make_poll(silent));
    });
}

std::tuple<Out<double, 2>, Out<double, 2>> potentials(
    const gm::DenseBatch& batch, std::int64_t number,
    const gm::CostMatrix& cost, In<std::int64_t, 1> chosen, int n_threads) {
    require_bins(batch, cost);
    require_pairs(batch, chosen);
    const std::size_t n = chosen.shape(0);
    Out<double, 2> u = new_matrix(n, static_cast<std::size_t>(batch.n_rows()));
    Out<double, 2> v =
        new_matrix(n, static_cast<std::size_t>(batch.n_columns()));
    const Progress silent;
    without_gil([&] {
        batch.potentials(number, cost, chosen.data(),
                         static_cast<std::int64_t>(n),
                         {n_threads, make_poll(silent)}, u.data(), v.data());
    });
    return {u, v};
}

}  // namespace

void bind_dense_batch(nb::module_& m) {
    nb::class_<gm::DenseBatch>(m, "DenseBatch", "Pairs solved again and again.")
        .def("__init__", &construct, "x"_a, "y"_a, "pairs"_a.noconvert())
        .def("solve", &solve, "cost"_a, "chosen"_a.noconvert(), "n_threads"_a,
             "progress"_a.none(),
             "Number of the solve, how it knows that mass stays, values, "
             "pivots.")
        .def("plan_sum", &plan_sum, "number"_a, "chosen"_a.noconvert(),
             "weights"_a.noconvert(),
             "Weighted sum of the plans of solve `number`.")
        .def("plans", &plans_of<gm::DenseBatch>, "number"_a,
             "chosen"_a.noconvert(),
             "Starts, rows, columns and flow of the plans of solve `number`.")
        .def("certificate", &certificate, "number"_a, "cost"_a, "pair"_a)
        .def("potentials", &potentials, "number"_a, "cost"_a,
             "chosen"_a.noconvert(), "n_threads"_a,
             "Potentials of pairs on all bins, in rows: u and v.")
        .def("__len__", &gm::DenseBatch::size)
        .def("pairs", &pairs_of<gm::DenseBatch>, "Rows (i, j), as given.")
        .def_prop_ro("n_bytes", &n_bytes_of<gm::DenseBatch>);
}
