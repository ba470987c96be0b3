// Plans of many pairs, arc by arc.
#pragma once

#include <cstdint>
#include <vector>

namespace groundmetric {

// Arcs of the k-th plan are at starts[k] to starts[k + 1].
struct Plans {
    std::vector<std::int64_t> starts{0};
    std::vector<std::int32_t> rows, columns;
    std::vector<double> flow;

    void add(int row, int column, double mass) {
        rows.push_back(row);
        columns.push_back(column);
        flow.push_back(mass);
    }
    // What was added since is a plan.
    void end() { starts.push_back(static_cast<std::int64_t>(flow.size())); }
};

}  // namespace groundmetric
