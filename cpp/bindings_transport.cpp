#include "batch.h"
#include "bindings.h"
#include "bounds.h"
#include "certificate.h"
#include "pairwise.h"

namespace {

// A getter that copies a member of the certificate into an array of its own.
template <class T>
auto array_of(std::vector<T> gm::Certificate::* member) {
    return [member](const gm::Certificate& self) {
        return to_numpy(self.*member);
    };
}

gm::Certificate transport(In<double, 1> r, In<double, 1> c, double total,
                          In<double, 2> cost) {
    const int d = static_cast<int>(r.shape(0));
    const Progress silent;
    return without_gil([&] {
        const gm::Masses left(r.data(), 1, d, total);
        const gm::Masses right(c.data(), 1, d, total);
        return gm::transport(left.row(0), right.row(0), left.unit(),
                             gm::CostMatrix(cost.data(), d), make_poll(silent));
    });
}

// The effort is added to `effort`: pivots, pairs by the hub, arcs priced there.
Out<double, 2> pairwise(
    const gm::Masses& x, const gm::Masses& y, const gm::CostMatrix& cost,
    bool symmetric, int n_threads, const Progress& progress, bool hub,
    std::optional<
        nb::ndarray<std::int64_t, nb::shape<3>, nb::c_contig, nb::device::cpu>>
        effort) {
    Out<double, 2> distances = new_matrix(static_cast<std::size_t>(x.size()),
                                          static_cast<std::size_t>(y.size()));
    const gm::Effort spent = without_gil([&] {
        return gm::pairwise(x, y, cost, {symmetric, hub},
                            {n_threads, make_poll(progress)}, distances.data());
    });
    if (effort) {
        effort->data()[0] += spent.n_pivots;
        effort->data()[1] += spent.n_by_hub;
        effort->data()[2] += spent.n_priced;
    }
    return distances;
}

void require_pairs(const gm::Batch& batch, const In<std::int64_t, 1>& chosen) {
    for (std::size_t k = 0; k < chosen.shape(0); ++k)
        if (chosen.data()[k] < 0 || chosen.data()[k] >= batch.size())
            throw std::invalid_argument("There is no such pair.");
}

std::tuple<std::int64_t, Out<double, 1>, Out<std::int32_t, 1>> solve(
    gm::Batch& batch, const gm::CostMatrix& cost, In<std::int64_t, 1> chosen,
    int n_threads, const Progress& progress,
    std::optional<In<double, 1>> ceilings) {
    const std::size_t n = chosen.shape(0);
    if (cost.size() != batch.n_bins())
        throw std::invalid_argument("The cost is of other bins.");
    require_pairs(batch, chosen);
    std::vector<double> values(n);
    std::vector<std::int32_t> n_pivots(n);
    const std::int64_t number = without_gil([&] {
        return batch.solve_below(
            cost, chosen.data(), static_cast<std::int64_t>(n),
            ceilings ? ceilings->data() : nullptr,
            {n_threads, make_poll(progress)}, values.data(), n_pivots.data());
    });
    return std::make_tuple(number, to_numpy(std::move(values)),
                           to_numpy(std::move(n_pivots)));
}

Out<double, 2> plan_sum(const gm::Batch& batch, std::int64_t number,
                        In<std::int64_t, 1> chosen, In<double, 1> weights,
                        int d) {
    const std::size_t size = static_cast<std::size_t>(d);
    Out<double, 2> sums = new_matrix(size, size);
    const Progress silent;
    without_gil([&] {
        batch.plan_sum(number, chosen.data(), weights.data(),
                       static_cast<std::int64_t>(chosen.shape(0)),
                       make_poll(silent), sums.data());
    });
    return sums;
}

gm::Certificate certificate(const gm::Batch& batch, std::int64_t number,
                            const gm::CostMatrix& cost, std::int64_t pair) {
    const Progress silent;
    return without_gil([&] {
        return batch.certificate(number, cost, pair, make_poll(silent));
    });
}

Out<double, 1> bounds(const gm::Batch& batch, const gm::CostMatrix& cost,
                      In<std::int64_t, 1> chosen, In<double, 2> functions,
                      In<std::int32_t, 1> best, int n_threads) {
    require_pairs(batch, chosen);
    std::vector<double> values(chosen.shape(0));
    const Progress silent;
    without_gil([&] {
        batch.bounds(cost, chosen.data(),
                     static_cast<std::int64_t>(chosen.shape(0)),
                     functions.data(), best.data(),
                     {n_threads, make_poll(silent)}, values.data());
    });
    return to_numpy(std::move(values));
}

Out<double, 2> lipschitz(const gm::Batch& batch, const gm::CostMatrix& cost,
                         In<std::int64_t, 1> chosen, int n_threads) {
    Out<double, 2> f =
        new_matrix(chosen.shape(0), static_cast<std::size_t>(cost.size()));
    const Progress silent;
    without_gil([&] {
        batch.lipschitz(cost, chosen.data(),
                        static_cast<std::int64_t>(chosen.shape(0)),
                        {n_threads, make_poll(silent)}, f.data());
    });
    return f;
}

std::tuple<bool, Out<std::int64_t, 1>, Out<std::uint8_t, 1>, Out<gm::Node, 1>>
trees(const gm::Batch& batch) {
    const Progress silent;
    gm::KeptTrees kept =
        without_gil([&] { return batch.trees(make_poll(silent)); });
    return std::make_tuple(kept.reduced, to_numpy(std::move(kept.pairs)),
                           to_numpy(std::move(kept.solved)),
                           to_numpy(std::move(kept.nodes)));
}

void set_trees(gm::Batch& batch, bool reduced, In<std::int64_t, 1> pairs,
               In<std::uint8_t, 1> solved, In<gm::Node, 1> nodes) {
    const Progress silent;
    without_gil([&] {
        batch.set_trees(
            {reduced, to_vector(pairs), to_vector(solved), to_vector(nodes)},
            make_poll(silent));
    });
}

std::int64_t n_bytes(const gm::Batch& batch) {
    const Progress silent;
    return without_gil([&] { return batch.n_bytes(make_poll(silent)); });
}

}  // namespace

void bind_transport(nb::module_& m) {
    m.attr("MAX_NODES") = gm::kMaxNodes;

    nb::class_<gm::Masses>(m, "Masses", "Histograms as integer masses.")
        .def(
            "__init__",
            [](gm::Masses* self, In<double, 2> histograms, double total) {
                new (self)
                    gm::Masses(histograms.data(),
                               static_cast<std::int64_t>(histograms.shape(0)),
                               static_cast<int>(histograms.shape(1)), total);
            },
            "histograms"_a.noconvert(), "total"_a)
        .def("__len__", &gm::Masses::size)
        .def_prop_ro("unit", &gm::Masses::unit, "The mass of one unit.");

    nb::class_<gm::CostMatrix>(m, "CostMatrix", "Costs between bins.")
        .def(
            "__init__",
            [](gm::CostMatrix* self, In<double, 2> cost) {
                if (cost.shape(0) != cost.shape(1))
                    throw std::invalid_argument("The cost is not square.");
                new (self) gm::CostMatrix(cost.data(),
                                          static_cast<int>(cost.shape(0)));
            },
            "cost"_a.noconvert())
        .def_prop_ro("size", &gm::CostMatrix::size, "The number of bins.")
        .def(
            "is_quasimetric",
            [](const gm::CostMatrix& self, int n_threads) {
                const Progress silent;
                return without_gil([&] {
                    return self.is_quasimetric(n_threads, make_poll(silent));
                });
            },
            "n_threads"_a, "Zero diagonal and triangle inequality.");

    using gm::Certificate;
    nb::class_<Certificate>(m, "Certificate", "A solved pair and its proof.")
        .def_ro("value", &Certificate::value)
        .def_ro("dual_value", &Certificate::dual_value)
        .def_ro("n_pivots", &Certificate::n_pivots)
        .def_prop_ro("rows", array_of(&Certificate::rows), kOwned)
        .def_prop_ro("columns", array_of(&Certificate::columns), kOwned)
        .def_prop_ro("flow", array_of(&Certificate::flow), kOwned)
        .def_prop_ro("u", array_of(&Certificate::u), kOwned)
        .def_prop_ro("v", array_of(&Certificate::v), kOwned);

    nb::class_<gm::Batch>(m, "Batch", "Pairs solved again and again.")
        .def(
            "__init__",
            [](gm::Batch* self, std::shared_ptr<gm::Masses> x,
               std::shared_ptr<gm::Masses> y, In<std::int64_t, 2> pairs) {
                new (self) gm::Batch(std::move(x), std::move(y), pairs.data(),
                                     static_cast<std::int64_t>(pairs.shape(0)));
            },
            "x"_a, "y"_a, "pairs"_a.noconvert())
        .def("solve", &solve, "cost"_a, "chosen"_a.noconvert(), "n_threads"_a,
             "progress"_a.none(), "ceilings"_a.noconvert().none() = nb::none(),
             "Number of the solve, values, pivots; minus a lower bound where "
             "the distance is above its ceiling.")
        .def("plan_sum", &plan_sum, "number"_a, "chosen"_a.noconvert(),
             "weights"_a.noconvert(), "d"_a,
             "Weighted sum of the plans of solve `number`.")
        .def("lipschitz", &lipschitz, "cost"_a, "chosen"_a.noconvert(),
             "n_threads"_a, "Lipschitz potentials of solved pairs, in rows.")
        .def("bounds", &bounds, "cost"_a, "chosen"_a.noconvert(),
             "functions"_a.noconvert(), "best"_a.noconvert(), "n_threads"_a,
             "Lower bounds of pairs, by the best function of each.")
        .def("certificate", &certificate, "number"_a, "cost"_a, "pair"_a)
        .def("trees", &trees, "What is kept, for set_trees.")
        .def("set_trees", &set_trees, "reduced"_a, "pairs"_a.noconvert(),
             "solved"_a.noconvert(), "nodes"_a.noconvert())
        .def("__len__", &gm::Batch::size)
        .def_prop_ro("n_bytes", &n_bytes);

    m.def(
        "summarize",
        [](In<double, 2> histograms) {
            const gm::MassSummary s =
                gm::summarize(histograms.data(),
                              static_cast<std::int64_t>(histograms.shape(0)),
                              static_cast<int>(histograms.shape(1)));
            return std::make_tuple(s.smallest_entry, s.first_mass, s.low_mass,
                                   s.high_mass);
        },
        "histograms"_a.noconvert(),
        "Smallest entry; mass of the first row, smallest and largest mass.");
    m.def(
        "raise_lower",
        [](In<double, 2> values, In<std::int64_t, 1> rows, std::int32_t first,
           InOut<double> lower, InOut<std::int32_t> best) {
            gm::raise_lower(values.data(), rows.data(),
                            static_cast<std::int64_t>(values.shape(0)),
                            static_cast<std::int64_t>(values.shape(1)), first,
                            lower.data(), best.data());
        },
        "values"_a.noconvert(), "rows"_a.noconvert(), "first"_a,
        "lower"_a.noconvert(), "best"_a.noconvert(),
        "Raise lower[rows[s]] to |values[s] - values[s, rows[s]]|, in place; "
        "there best becomes first + s.");
    m.def("transport", &transport, "r"_a.noconvert(), "c"_a.noconvert(),
          "total"_a, "cost"_a.noconvert(), "One pair, with its certificate.");
    m.def(
        "pairwise", &pairwise, "x"_a, "y"_a, "cost"_a, "symmetric"_a,
        "n_threads"_a, "progress"_a.none(), "hub"_a = true,
        "effort"_a.noconvert().none() = nb::none(),
        "All distances; adds pivots, pairs by the hub and arcs priced there to "
        "`effort`.");
}
