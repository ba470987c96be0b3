#include "bindings/bindings.h"
#include "cone/projector.h"
#include "transport/cost.h"

namespace {

Out<double, 2> detours(In<double, 2> matrix, int n_threads) {
    const std::size_t d = matrix.shape(0);
    require_shape(matrix, d, d, "matrix");
    Out<double, 2> out = new_matrix(d, d);
    const Progress silent;
    without_gil([&] {
        gm::CostMatrix(matrix.data(), static_cast<int>(d), static_cast<int>(d))
            .find_detours(n_threads, make_poll(silent), out.data());
    });
    return out;
}

std::tuple<Out<double, 2>, int, int, double, double, bool> project(
    gm::MetricProjector& projector, In<double, 2> matrix,
    std::optional<In<double, 2>> weights, double tol, int max_rounds,
    int n_threads, const Progress& progress, double cap) {
    const auto d = static_cast<std::size_t>(projector.size());
    require_shape(matrix, d, d, "matrix");
    if (weights) require_shape(*weights, d, d, "weights");
    require(projector.has_center() == (cap > 0.0),
            "A cap needs a projector with a center.");
    Out<double, 2> metric = new_matrix(d, d);
    const Progress silent;
    gm::ProjectionOptions options{
        tol, cap, max_rounds, n_threads, make_poll(silent), [&](int round) {
            if (!make_poll(progress)(round)) throw gm::Stopped();
        }};
    const gm::ProjectionReport report = without_gil([&] {
        return projector.project(matrix.data(),
                                 weights ? weights->data() : nullptr, options,
                                 metric.data());
    });
    return std::make_tuple(std::move(metric), report.rounds, report.sweeps,
                           report.violation, report.bound, report.converged);
}

std::tuple<Out<std::int32_t, 2>, Out<double, 1>, double> triangles(
    const gm::MetricProjector& projector) {
    const Progress silent;
    const gm::Multipliers kept =
        without_gil([&] { return projector.multipliers(make_poll(silent)); });
    const std::size_t n = kept.triangles.size();
    Out<std::int32_t, 2> corners = new_matrix<std::int32_t>(n, 3);
    std::vector<double> duals(n);
    for (std::size_t t = 0; t < n; ++t) {
        const gm::Multiplier& m = kept.triangles[t];
        corners.data()[3 * t] = m.i;
        corners.data()[3 * t + 1] = m.j;
        corners.data()[3 * t + 2] = m.k;
        duals[t] = m.dual;
    }
    return std::make_tuple(std::move(corners), to_numpy(std::move(duals)),
                           kept.unit);
}

void set_triangles(gm::MetricProjector& projector, In<std::int32_t, 2> corners,
                   In<double, 1> duals, double unit) {
    const std::size_t n = duals.shape(0);
    require(corners.shape(0) == n && corners.shape(1) == 3,
            "These are not triangles of a projector.");
    gm::Multipliers multipliers{{}, unit};
    for (std::size_t t = 0; t < n; ++t) {
        const std::int32_t* c = corners.data() + 3 * t;
        multipliers.triangles.push_back({c[0], c[1], c[2], duals.data()[t]});
    }
    const Progress silent;
    without_gil([&] {
        projector.set_multipliers(std::move(multipliers), make_poll(silent));
    });
}

void forget(gm::MetricProjector& projector) {
    const Progress silent;
    without_gil([&] { projector.forget(make_poll(silent)); });
}

std::int64_t n_triangles(const gm::MetricProjector& projector) {
    const Progress silent;
    return without_gil(
        [&] { return projector.n_triangles(make_poll(silent)); });
}

}  // namespace

void bind_cone(nb::module_& m) {
    nb::class_<gm::MetricProjector>(m, "MetricProjector",
                                    "Projections onto the cone of metrics.")
        .def(nb::init<int, bool>(), "n_bins"_a, "has_center"_a = false)
        .def_prop_ro("has_center", &gm::MetricProjector::has_center)
        .def("project", &project, "matrix"_a.noconvert(),
             "weights"_a.noconvert().none(), "tol"_a, "max_rounds"_a,
             "n_threads"_a, "progress"_a.none(), "cap"_a = 0.0,
             "Metric, rounds, sweeps, violation, relative bound, converged.")
        .def("forget", &forget)
        .def("triangles", &triangles,
             "Triangles (i, j, k), their duals, and the duals' unit.")
        .def("set_triangles", &set_triangles, "corners"_a.noconvert(),
             "duals"_a.noconvert(), "unit"_a, "What triangles() returned.")
        .def_prop_ro("n_triangles", &n_triangles);
    m.def("detours", &detours, "matrix"_a.noconvert(), "n_threads"_a,
          "min_k M_ik + M_kj.");
}
