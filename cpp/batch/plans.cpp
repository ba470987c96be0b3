#include "batch/plans.h"

#include <algorithm>
#include <tuple>

namespace groundmetric {

void Plans::add(std::vector<Shipment>& shipments, double unit) {
    std::sort(shipments.begin(), shipments.end(),
              [](const Shipment& a, const Shipment& b) {
                  return std::tie(a.row, a.column) < std::tie(b.row, b.column);
              });
    for (const Shipment& shipment : shipments) {
        rows.push_back(shipment.row);
        columns.push_back(shipment.column);
        flow.push_back(to_double(shipment.mass) * unit);
    }
    starts.push_back(static_cast<std::int64_t>(flow.size()));
}

}  // namespace groundmetric
