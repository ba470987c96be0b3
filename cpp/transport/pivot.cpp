#include "transport/pivot.h"

namespace groundmetric {
namespace {

struct Leaving {
    Node join;
    Node below;  // the node whose arc to its parent leaves the basis
    Mass flow;
    bool on_row_side;
};

// Flow enters along (row, column) and returns through the tree: from the column
// up to the join, and down to the row. It lowers the flow of every arc that it
// runs against: those above the rows on the row's side and above the columns on
// the column's side. The arc that leaves is the last that blocks on the way
// around from the join (section 11.6): of equal ones on the row's side the
// lowest, and rather one on the column's side, the highest.
Leaving find_leaving_arc(const Arc& entering, const SpanningTree& tree) {
    Leaving leaving{0, 0, kMostMass, true};
    Node x = entering.row;
    for (; !tree.contains(x, entering.column); x = tree.parent[x])
        if (tree.is_row(x) && tree.flow[x] < leaving.flow) {
            leaving.flow = tree.flow[x];
            leaving.below = x;
        }
    leaving.join = x;
    for (x = entering.column; x != leaving.join; x = tree.parent[x])
        if (!tree.is_row(x) && tree.flow[x] <= leaving.flow) {
            leaving.flow = tree.flow[x];
            leaving.below = x;
            leaving.on_row_side = false;
        }
    return leaving;
}

void change_flow(const Arc& entering, const Leaving& leaving,
                 SpanningTree& tree) {
    if (leaving.flow == 0) return;
    for (Node x = entering.row; x != leaving.join; x = tree.parent[x])
        tree.flow[x] += tree.is_row(x) ? -leaving.flow : leaving.flow;
    for (Node x = entering.column; x != leaving.join; x = tree.parent[x])
        tree.flow[x] += tree.is_row(x) ? leaving.flow : -leaving.flow;
}

void update_tree(const Arc& entering, const Leaving& leaving,
                 SpanningTree& tree, std::vector<double>& potential) {
    const Node head = leaving.on_row_side ? entering.row : entering.column;
    const Node foot = leaving.on_row_side ? entering.column : entering.row;
    tree.rehang(leaving.below, head, foot, leaving.join, leaving.flow);
    const double shift =
        leaving.on_row_side ? entering.reduced_cost : -entering.reduced_cost;
    const Node* slice = tree.order.data() + tree.position[head];
    for (int k = 0; k < tree.size[head]; ++k) potential[slice[k]] += shift;
}

}  // namespace

void pivot(const Arc& entering, SpanningTree& tree,
           std::vector<double>& potential) {
    const Leaving leaving = find_leaving_arc(entering, tree);
    change_flow(entering, leaving, tree);
    update_tree(entering, leaving, tree, potential);
}

}  // namespace groundmetric
