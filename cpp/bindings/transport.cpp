#include "batch/pairwise.h"
#include "bindings/bindings.h"
#include "transport/certificate.h"
#include "transport/smoothed_problem.h"

namespace {

// A getter that copies a member of the certificate into an array of its own.
template <class T>
auto array_of(std::vector<T> gm::Certificate::* member) {
    return [member](const gm::Certificate& self) {
        return to_numpy(self.*member);
    };
}

// The bins that are not empty in one of two histograms.
std::vector<int> bins_of(const In<double, 1>& r, const In<double, 1>& c) {
    std::vector<int> bins;
    for (std::size_t p = 0; p < r.shape(0); ++p)
        if (r.data()[p] > 0.0 || c.data()[p] > 0.0)
            bins.push_back(static_cast<int>(p));
    return bins;
}

std::vector<double> some_of(const In<double, 1>& r,
                            const std::vector<int>& bins) {
    std::vector<double> values;
    for (const int p : bins) values.push_back(r.data()[p]);
    return values;
}

template <class Number>
gm::Certificate transport(In<double, 1> r, In<double, 1> c, double total,
                          In<Number, 2> cost) {
    const int m = static_cast<int>(r.shape(0));
    const int n = static_cast<int>(c.shape(0));
    require_shape(cost, r.shape(0), c.shape(0), "cost");
    const Progress silent;
    return without_gil([&] {
        const gm::Masses left(r.data(), 1, m, total);
        const gm::Masses right(c.data(), 1, n, total);
        return gm::transport(left.row(0), right.row(0), left.unit(),
                             gm::CostMatrix(cost.data(), m, n),
                             make_poll(silent));
    });
}

double distance(const double* r, const double* c, double total,
                const gm::CostMatrix& cost) {
    const gm::Masses left(r, 1, cost.n_rows(), total);
    const gm::Masses right(c, 1, cost.n_columns(), total);
    const Progress silent;
    return cost.unscaled(
        gm::distance(left.row(0), right.row(0), cost, make_poll(silent)),
        left.unit());
}

// The value alone needs no potentials on empty bins, and so no costs there.
template <class Number>
double emd(In<double, 1> r, In<double, 1> c, double total, In<Number, 2> cost) {
    require_shape(cost, r.shape(0), c.shape(0), "cost");
    const int m = static_cast<int>(r.shape(0));
    const int n = static_cast<int>(c.shape(0));
    const bool has_common_bins = r.shape(0) == c.shape(0);
    const std::vector<int> rows = bins_of(r, has_common_bins ? c : r);
    const std::vector<int> columns = has_common_bins ? rows : bins_of(c, c);
    // Gathering most of a matrix would be slower than copying it.
    if (2 * (rows.size() + columns.size()) > r.shape(0) + c.shape(0))
        return without_gil([&] {
            return distance(r.data(), c.data(), total,
                            gm::CostMatrix(cost.data(), m, n));
        });
    return without_gil([&] {
        return distance(some_of(r, rows).data(), some_of(c, columns).data(),
                        total, gm::CostMatrix(cost.data(), n, rows, columns));
    });
}

template <class Number>
void construct_cost(gm::CostMatrix* self, In<Number, 2> cost) {
    new (self) gm::CostMatrix(cost.data(), static_cast<int>(cost.shape(0)),
                              static_cast<int>(cost.shape(1)));
}

// What a smoothed plan says about one pair, for tests: the potentials of the
// columns, and its leaves, the surest first.
std::tuple<Out<double, 1>, Out<int, 1>, Out<int, 1>> smoothed(
    const gm::Masses& x, const gm::Masses& y, const gm::CostMatrix& cost) {
    require_cost(cost, x.n_bins(), y.n_bins());
    require_same_mass(x, y);
    gm::Problem problem;
    problem.set_margins(x.row(0), x.n_bins(), y.row(0), y.n_bins(), false);
    problem.set_costs(cost);
    gm::SmoothedProblem plan;
    const Progress silent;
    gm::Shared shared{make_poll(silent)};
    gm::StopToken stop(shared, true);
    plan.solve(problem, stop);
    std::vector<double> potentials;
    for (int j = 0; j < problem.n_columns(); ++j)
        potentials.push_back(-plan.offset[j] * cost.scale());
    std::vector<int> rows, columns;
    for (const gm::SmoothedProblem::Share& share : plan.shares) {
        rows.push_back(problem.rows[share.row]);
        columns.push_back(problem.columns[share.column]);
    }
    return std::make_tuple(to_numpy(std::move(potentials)),
                           to_numpy(std::move(rows)),
                           to_numpy(std::move(columns)));
}

// Adds pivots, pairs by the hub and arcs priced there to `counts`.
Out<double, 2> pairwise(
    const gm::Masses& x, const gm::Masses& y, const gm::CostMatrix& cost,
    bool symmetric, int n_threads, const Progress& progress, bool hub,
    std::optional<
        nb::ndarray<std::int64_t, nb::shape<3>, nb::c_contig, nb::device::cpu>>
        counts) {
    require_cost(cost, x.n_bins(), y.n_bins());
    require_same_mass(x, y);
    require(!symmetric || (&x == &y && cost.is_square()),
            "Distances are symmetric only within one set.");
    Out<double, 2> distances = new_matrix(static_cast<std::size_t>(x.size()),
                                          static_cast<std::size_t>(y.size()));
    const gm::SolveCounts spent = without_gil([&] {
        return gm::pairwise(x, y, cost, {symmetric, hub},
                            {n_threads, make_poll(progress)}, distances.data());
    });
    if (counts) {
        counts->data()[0] += spent.n_pivots;
        counts->data()[1] += spent.n_by_hub;
        counts->data()[2] += spent.n_priced;
    }
    return distances;
}

template <class Number>
void bind_pair(nb::module_& m) {
    m.def("transport", &transport<Number>, "r"_a.noconvert(), "c"_a.noconvert(),
          "total"_a, "cost"_a.noconvert(), "One pair, with its certificate.");
    m.def("emd", &emd<Number>, "r"_a.noconvert(), "c"_a.noconvert(), "total"_a,
          "cost"_a.noconvert(), "The distance of one pair.");
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
        .def("__init__", &construct_cost<double>, "cost"_a.noconvert())
        .def("__init__", &construct_cost<float>, "cost"_a.noconvert())
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
        .def_ro("forbidden", &Certificate::forbidden,
                "Mass that no plan keeps off arcs of infinite cost.")
        .def_prop_ro("rows", array_of(&Certificate::rows), kOwned)
        .def_prop_ro("columns", array_of(&Certificate::columns), kOwned)
        .def_prop_ro("flow", array_of(&Certificate::flow), kOwned)
        .def_prop_ro("u", array_of(&Certificate::u), kOwned)
        .def_prop_ro("v", array_of(&Certificate::v), kOwned);

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
    bind_pair<double>(m);
    bind_pair<float>(m);
    m.def("smoothed", &smoothed, "x"_a, "y"_a, "cost"_a,
          "Of the first histograms of x and y: potentials of the columns, and "
          "rows and columns of the arcs that most probably are leaves.");
    m.def(
        "pairwise_dense", &pairwise, "x"_a, "y"_a, "cost"_a, "symmetric"_a,
        "n_threads"_a, "progress"_a.none(), "hub"_a = true,
        "counts"_a.noconvert().none() = nb::none(),
        "All distances; adds pivots, pairs by the hub and arcs priced there to "
        "`counts`.");
}
