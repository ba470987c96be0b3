// The rows, or the columns, of a typical table.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tables/typical_table.h"

namespace groundmetric {
namespace {

// A dual so large that its row or column of T adds nothing to any sum: bins of
// mass below kEmpty count as empty, so no true dual comes near it.
constexpr double kNoBin = 1e140;
constexpr double kEmpty = 1e-100;

}  // namespace

void TypicalTable::Side::assign(const double* histogram, int d) {
    bin.clear();
    const double total = std::accumulate(histogram, histogram + d, 0.0);
    double kept = 0;
    for (int p = 0; p < d; ++p) {
        if (histogram[p] <= kEmpty * total) continue;
        bin.push_back(p);
        kept += histogram[p];
    }
    for (Array* a : {&mass, &dual, &margin, &slope, &excess, &step, &product}) {
        a->resize(size());
        std::fill_n(static_cast<double*>(*a), padded(size()), 0.0);
    }
    for (int i = 0; i < size(); ++i) mass[i] = histogram[bin[i]] / kept;
    std::fill(dual + size(), dual + padded(size()), kNoBin);
}

double TypicalTable::Side::smallest_dual() const {
    return *std::min_element(dual + 0, dual + size());
}

double TypicalTable::Side::sum_of_squares() const {
    double sum = 0;
    for (int i = 0; i < size(); ++i) sum += mass[i] * mass[i];
    return sum;
}

double TypicalTable::Side::error() const {
    double largest = 0;
    for (int i = 0; i < size(); ++i) {
        largest = worse(largest, std::abs(excess[i]) / mass[i]);
    }
    return largest;
}

// The same t is added to all u, such that expm1(u) = eps * from becomes
// eps * to.
void TypicalTable::Side::shift_dual(double from, double to, double eps) {
    const double shift = (to - from) / (1 + eps * from);
    for (int i = 0; i < size(); ++i) dual[i] += (1 + eps * dual[i]) * shift;
}

}  // namespace groundmetric
