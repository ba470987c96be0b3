// Typical tables: the margins are those of the histograms, as exactly as the
// table says, and the table of (c, r) is the transpose.
#include <limits>

#include "checks.h"
#include "input.h"
#include "tables/typical_table.h"

namespace groundmetric::fuzz {
namespace {

// The largest relative error of a margin of bins that are not all but empty.
double worst_margin(const std::vector<double>& table,
                    const std::vector<double>& masses, bool columns) {
    const std::size_t d = masses.size();
    double largest = 0.0;
    for (std::size_t p = 0; p < d; ++p) {
        if (masses[p] < 1e-90) continue;
        double sum = 0.0;
        for (std::size_t q = 0; q < d; ++q)
            sum += table[columns ? q * d + p : p * d + q];
        largest = worse(largest, std::abs(sum / masses[p] - 1.0));
    }
    return largest;
}

double total_mass(Input& input) {
    switch (input.byte() % 4) {
        case 0:
            return 1.0;
        case 1:
            return std::numeric_limits<double>::infinity();
        case 2:
            return std::max(1e-300, input.number(Input::Kind::steep, false));
        default:
            return std::max(1e-9, input.number(Input::Kind::decades, false));
    }
}

}  // namespace

void run(Input& input) {
    const int d = input.n_bins();
    const std::vector<double> r = distribution(input, d);
    const std::vector<double> c =
        input.byte() % 8 == 0 ? r : distribution(input, d);
    const double total = total_mass(input);
    Shared shared{kGoOn};
    StopToken stop(shared, true);
    TypicalTable solver;
    const auto table_of = [&](const std::vector<double>& first,
                              const std::vector<double>& second,
                              double& error) {
        std::vector<double> table(static_cast<std::size_t>(d) * d);
        error = solver.solve(first.data(), second.data(), d, total, stop);
        solver.add_to(table.data(), 1.0, stop);
        return table;
    };
    double error, transposed_error;
    const std::vector<double> table = table_of(r, c, error);
    const std::vector<double> transposed = table_of(c, r, transposed_error);
    require(error <= 1e-10, "the error of a margin", error, 1e-10);
    require(error == transposed_error, "the error of the transpose",
            transposed_error, error);
    for (const double x : table) require(x >= 0.0, "an entry", x);
    for (int p = 0; p < d; ++p)
        for (int q = 0; q < d; ++q)
            require(table[p * d + q] == transposed[q * d + p], "a transpose");
    const double slack = error + 1e-13;
    require(worst_margin(table, r, false) <= slack, "rows",
            worst_margin(table, r, false), slack);
    require(worst_margin(table, c, true) <= slack, "columns",
            worst_margin(table, c, true), slack);
}

}  // namespace groundmetric::fuzz
