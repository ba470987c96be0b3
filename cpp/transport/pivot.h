// One pivot of the network simplex: an arc enters the basis, another leaves.
//
// Rows send and columns receive; a hub, if the network has one, does both and
// always is the root of the tree. The code relies only on this: the arc above a
// row points up, and the arc above a column points down.
#pragma once

#include <vector>

#include "transport/tree.h"

namespace groundmetric {

struct Arc {
    Node row, column;  // from and to; either may be the hub
    double reduced_cost;
};

// Sends as much flow as possible along `entering` and back through the tree,
// and replaces an arc that blocks by it, such that a strongly feasible tree
// stays so; shifts the potentials of the subtree that moved.
void pivot(const Arc& entering, SpanningTree& tree,
           std::vector<double>& potential);

}  // namespace groundmetric
