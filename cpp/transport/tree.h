// The spanning tree of a basic solution, and how a pivot changes it.
//
// The nodes are the rows 0..m-1 and the columns m..m+n-1 of a transportation
// problem; the m+n-1 basic arcs form a tree, which hangs from a root column.
// For m = n = 3, rows a b c and columns A B C, the plan on the left is the tree
// in the middle, and `order` on the right lists it in preorder:
//
//          A   B   C                 C
//      a   4   1   .               /   \              order  C b B a A c
//      b   .   2   3              b     c             size   6 4 3 2 1 1
//      c   .   .   5              |
//                                 B
//                                 |
//                                 a
//                                 |
//                                 A
//
// A subtree is a contiguous slice of `order`: size[x] nodes from position[x]
// on. So x is an ancestor of y if y lies in x's slice, shifting the potentials
// of a subtree is a loop over a slice, and hanging a subtree elsewhere moves
// slices. The textbooks' thread index is the same list with links instead of
// places (Ahuja, Magnanti & Orlin, Network Flows, section 11.3); for the few
// hundred nodes of a histogram, moving 16-bit numbers is cheaper than following
// links.
//
// flow[x] is the flow on the arc between x and its parent. All arcs run from a
// row to a column, so the arc above a row points up and the arc above a column
// points down. The tree is *strongly feasible* if every arc that points down
// carries positive flow: some mass can be sent from every node to the root
// (section 11.6 there). TransportSimplex keeps it so, and hence cannot cycle.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "transport/problem.h"

namespace groundmetric {

using Node = std::uint16_t;
inline constexpr int kMaxNodes = 65535;

struct SpanningTree {
    int n_rows = 0;
    std::vector<Node> parent;  // the root is its own parent
    std::vector<Node> order;
    std::vector<Node> position;
    std::vector<Node> size;
    std::vector<Mass> flow;

    void resize(int n_rows_, int n_nodes);
    int n_nodes() const { return static_cast<int>(order.size()); }
    Node root() const { return order[0]; }
    bool is_row(Node x) const { return x < n_rows; }

    // Whether y lies in the subtree of x (y = x included).
    bool contains(Node x, Node y) const {
        return static_cast<unsigned>(position[y] - position[x]) < size[x];
    }

    // Sets order, position and size from parent, given all nodes listed so
    // that parents come before their children.
    void set_order(const std::vector<Node>& parents_first);

    // The preorder, then the parents in this order: how a tree is kept between
    // solves.
    std::vector<Node> nodes() const;
    // The tree with these nodes, and the flows that the margins imply.
    void restore(const Problem& problem, const Node* nodes);

    // Sets the flows that the margins of the problem imply.
    void set_flow(const Problem& problem);

    // No flow is negative, and none that points down is zero.
    bool is_strongly_feasible() const;

    // Cuts the subtree of `top` off, makes its node `head` its root, and hangs
    // it below `foot` with flow `above_head`; `join` is an ancestor of foot and
    // of top. The moved subtree is the slice at position[head] afterwards.
    void rehang(Node top, Node head, Node foot, Node join, Mass above_head);

private:
    void move_slice(int begin, int length, int after);
    std::vector<Node> slice_;    // scratch: a subtree in its new order
    std::vector<Node> free_at_;  // scratch of set_order
    std::vector<Mass> net_;      // scratch of set_flow
};

// Calls visit(p, q, mass) for every basic arc that moves mass from bin p to q.
template <class Visit>
void for_each_arc(const Problem& problem, const SpanningTree& tree,
                  Visit visit) {
    for (int k = 1; k < problem.n_nodes(); ++k) {
        const Node x = tree.order[k], up = tree.parent[x];
        const Node row = tree.is_row(x) ? x : up;
        const Node column = tree.is_row(x) ? up : x;
        if (tree.flow[x] > 0)
            visit(problem.rows[row], problem.columns[column - tree.n_rows],
                  tree.flow[x]);
    }
}

// Sets the potentials that the tree and the costs of its arcs imply, down from
// that of the root. Returns the largest in absolute value.
template <class ArcCost>
double hang_potentials(const SpanningTree& tree, ArcCost arc_cost,
                       std::vector<double>& potential) {
    double largest = 0.0;
    for (int k = 1; k < tree.n_nodes(); ++k) {
        const Node x = tree.order[k];
        const double cost = tree.is_row(x) ? arc_cost(x) : -arc_cost(x);
        potential[x] = potential[tree.parent[x]] + cost;
        largest = std::max(largest, std::abs(potential[x]));
    }
    return largest;
}

// Adds `scale` times the plan to sums (rows of n): the arcs of the tree, and
// the common mass of r and c if that stays where it is.
void add_plan(const Problem& problem, const SpanningTree& tree, const Mass* r,
              const Mass* c, bool reduced, double scale, int n, double* sums);

}  // namespace groundmetric
