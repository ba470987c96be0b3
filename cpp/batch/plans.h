// Plans of many pairs, arc by arc.
#pragma once

#include <cstdint>
#include <vector>

#include "base/masses.h"

namespace groundmetric {

// The mass that moves along an arc.
struct Shipment {
    std::int32_t row, column;
    Mass mass;
};

// Those of the k-th plan are at starts[k] to starts[k + 1], row by row.
struct Plans {
    std::vector<std::int64_t> starts{0};
    std::vector<std::int32_t> rows, columns;
    std::vector<double> flow;

    // Adds a plan, whose shipments are sorted for it.
    void add(std::vector<Shipment>& shipments, double unit);
};

}  // namespace groundmetric
