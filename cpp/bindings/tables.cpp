#include "bindings/bindings.h"
#include "tables/table_sum.h"

namespace {

std::tuple<Out<double, 2>, double> typical_sum(In<double, 2> histograms,
                                               In<std::int64_t, 2> pairs,
                                               In<double, 1> weights,
                                               double total, int n_threads,
                                               const Progress& progress) {
    const std::size_t d = histograms.shape(1);
    require_shape(pairs, pairs.shape(0), 2, "pairs");
    require_range(pairs.data(), pairs.size(), 0,
                  static_cast<std::int64_t>(histograms.shape(0)), "pairs");
    require_length(weights.shape(0), pairs.shape(0), "weights");
    Out<double, 2> sums = new_matrix(d, d);
    const double error = without_gil([&] {
        return gm::typical_sum(histograms.data(), static_cast<int>(d),
                               pairs.data(), weights.data(),
                               static_cast<std::int64_t>(pairs.shape(0)), total,
                               {n_threads, make_poll(progress)}, sums.data());
    });
    return std::make_tuple(std::move(sums), error);
}

}  // namespace

void bind_tables(nb::module_& m) {
    m.def(
        "typical_sum", &typical_sum, "histograms"_a.noconvert(),
        "pairs"_a.noconvert(), "weights"_a.noconvert(), "total"_a,
        "n_threads"_a, "progress"_a.none(),
        "Weighted sum of typical tables; largest relative error of a margin.");
}
