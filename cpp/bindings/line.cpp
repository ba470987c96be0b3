#include "sparse/line.h"

#include <algorithm>

#include "bindings/places.h"
#include "sparse/points.h"

namespace {

using gm::Line;
using gm::SparseMasses;

void construct(Line* self, In<double, 1> coordinates, bool squared) {
    const std::size_t d = coordinates.shape(0);
    const double* x = coordinates.data();
    require(d > 0 && gm::are_finite(x, d) && std::is_sorted(x, x + d),
            "The coordinates of a line must be finite, and rise.");
    new (self) Line(x, static_cast<int>(d), squared);
}

Out<double, 2> pairwise(const Line& line, const SparseMasses& x,
                        const SparseMasses& y, bool symmetric, int n_threads,
                        const Progress& progress) {
    require_comparable(x, y, line.size(), symmetric);
    Out<double, 2> distances = new_matrix(static_cast<std::size_t>(x.size()),
                                          static_cast<std::size_t>(y.size()));
    without_gil([&] {
        gm::pairwise(x, y, line, symmetric, {n_threads, make_poll(progress)},
                     distances.data());
    });
    return distances;
}

Out<double, 1> in_pairs(const Line& line, const SparseMasses& x,
                        const SparseMasses& y, In<std::int64_t, 2> pairs,
                        int n_threads) {
    require_comparable(x, y, line.size(), false);
    const std::size_t n = pairs.shape(0);
    require_shape(pairs, n, 2, "pairs");
    for (std::size_t k = 0; k < n; ++k) {
        require_range(pairs.data() + 2 * k, 1, 0, x.size(), "pairs");
        require_range(pairs.data() + 2 * k + 1, 1, 0, y.size(), "pairs");
    }
    std::vector<double> distances(n);
    const Progress silent;
    without_gil([&] {
        gm::in_pairs(x, y, line, pairs.data(), static_cast<std::int64_t>(n),
                     {n_threads, make_poll(silent)}, distances.data());
    });
    return to_numpy(std::move(distances));
}

gm::Certificate transport(const Line& line, const SparseMasses& x,
                          const SparseMasses& y) {
    require_comparable(x, y, line.size(), false);
    return line.certificate(x.row(0), y.row(0), x.unit());
}

}  // namespace

void bind_line(nb::module_& m) {
    nb::class_<Line>(m, "Line", "Bins on a line, from left to right.")
        .def("__init__", &construct, "coordinates"_a.noconvert(), "squared"_a)
        .def("__len__", &Line::size)
        .def("pairwise", &pairwise, "x"_a, "y"_a, "symmetric"_a, "n_threads"_a,
             "progress"_a.none(), "All distances.")
        .def("in_pairs", &in_pairs, "x"_a, "y"_a, "pairs"_a.noconvert(),
             "n_threads"_a, "The distances of rows (i, j).")
        .def("transport", &transport, "x"_a, "y"_a,
             "Plan and proof of the first histograms.");
}
