#include "bindings.h"
#include "cone.h"
#include "cost.h"

namespace {

Out<double, 2> detours(In<double, 2> matrix, int n_threads) {
    const std::size_t d = matrix.shape(0);
    Out<double, 2> out = new_matrix(d, d);
    const Progress silent;
    without_gil([&] {
        gm::CostMatrix(matrix.data(), static_cast<int>(d))
            .find_detours(n_threads, make_poll(silent), out.data());
    });
    return out;
}

std::tuple<Out<double, 2>, int, int, double, double, bool> project(
    gm::MetricProjector& projector, In<double, 2> matrix,
    std::optional<In<double, 2>> weights, double tol, int max_rounds,
    int n_threads, const Progress& progress) {
    const std::size_t d = matrix.shape(0);
    Out<double, 2> metric = new_matrix(d, d);
    const Progress silent;
    gm::ProjectionOptions options{tol, max_rounds, n_threads, make_poll(silent),
                                  [&](int round) {
                                      if (!make_poll(progress)(round))
                                          throw gm::Stopped();
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
    std::vector<double> duals;
    auto* corners = new std::vector<std::int32_t>;
    nb::capsule owner(corners, [](void* p) noexcept {
        delete static_cast<std::vector<std::int32_t>*>(p);
    });
    projector.working_set().for_each([&](int i, int j, int k, double u) {
        corners->insert(corners->end(), {i, j, k});
        duals.push_back(u);
    });
    Out<std::int32_t, 2> triangles(corners->data(), {duals.size(), 3}, owner);
    return std::make_tuple(std::move(triangles), to_numpy(std::move(duals)),
                           projector.unit());
}

void set_triangles(gm::MetricProjector& projector, In<std::int32_t, 2> corners,
                   In<double, 1> duals, double unit) {
    if (corners.shape(0) != duals.shape(0) || corners.shape(1) != 3 ||
        !projector.set_triangles(corners.data(), duals.data(), duals.shape(0),
                                 unit))
        throw std::invalid_argument("These are not triangles of a projector.");
}

}  // namespace

void bind_cone(nb::module_& m) {
    nb::class_<gm::MetricProjector>(m, "MetricProjector",
                                    "Projections onto the cone of metrics.")
        .def(nb::init<int>(), "d"_a)
        .def("project", &project, "matrix"_a.noconvert(),
             "weights"_a.noconvert().none(), "tol"_a, "max_rounds"_a,
             "n_threads"_a, "progress"_a.none(),
             "Metric, rounds, sweeps, violation, relative bound, converged.")
        .def("forget", &gm::MetricProjector::forget)
        .def("triangles", &triangles,
             "Triangles (i, j, k), their duals, and the duals' unit.")
        .def("set_triangles", &set_triangles, "corners"_a.noconvert(),
             "duals"_a.noconvert(), "unit"_a, "What triangles() returned.")
        .def_prop_ro("n_triangles", [](const gm::MetricProjector& self) {
            return self.working_set().size();
        });
    m.def("detours", &detours, "matrix"_a.noconvert(), "n_threads"_a,
          "min_k M_ik + M_kj.");
}
