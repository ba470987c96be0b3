#include "transport/tree.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace groundmetric {

void SpanningTree::resize(int n_rows_, int n_nodes) {
    assert(n_nodes <= kMaxNodes);
    n_rows = n_rows_;
    const std::size_t n = static_cast<std::size_t>(n_nodes);
    parent.resize(n);
    order.resize(n);
    position.resize(n);
    size.resize(n);
    flow.resize(n);
    slice_.resize(n);
    free_at_.resize(n);
    net_.resize(n);
}

void SpanningTree::set_order(const std::vector<Node>& parents_first) {
    std::fill(size.begin(), size.end(), Node{1});
    for (int k = n_nodes() - 1; k > 0; --k) {
        const Node x = parents_first[k];
        size[parent[x]] = static_cast<Node>(size[parent[x]] + size[x]);
    }
    for (int k = 0; k < n_nodes(); ++k) {
        const Node x = parents_first[k];
        Node& place = free_at_[parent[x]];  // where parent's next child goes
        if (k == 0) place = 0;
        position[x] = place;
        order[position[x]] = x;
        place = static_cast<Node>(place + size[x]);
        free_at_[x] = static_cast<Node>(position[x] + 1);
    }
}

void SpanningTree::restore(const Problem& problem, const Node* nodes) {
    const int n = problem.n_nodes();
    resize(problem.n_rows(), n);
    if (n == 0) return;
    std::fill(size.begin(), size.end(), Node{1});
    for (int k = 0; k < n; ++k) {
        order[k] = nodes[k];
        position[order[k]] = static_cast<Node>(k);
        parent[order[k]] = nodes[n + k];
    }
    for (int k = n - 1; k > 0; --k) {
        const Node x = order[k];
        size[parent[x]] = static_cast<Node>(size[parent[x]] + size[x]);
    }
    set_flow(problem);
}

std::vector<Node> SpanningTree::nodes() const {
    std::vector<Node> out(order);
    out.reserve(2 * order.size());
    for (const Node x : order) out.push_back(parent[x]);
    return out;
}

void SpanningTree::set_flow(const Problem& problem) {
    std::copy(problem.supply.begin(), problem.supply.end(), net_.begin());
    std::transform(problem.demand.begin(), problem.demand.end(),
                   net_.begin() + n_rows, [](Mass mass) { return -mass; });
    for (int k = n_nodes() - 1; k > 0; --k) {
        const Node x = order[k];
        flow[x] = is_row(x) ? net_[x] : -net_[x];
        net_[parent[x]] += net_[x];
    }
    flow[root()] = 0;
    assert(net_[root()] == 0);
}

bool SpanningTree::is_strongly_feasible() const {
    return std::all_of(order.begin() + 1, order.end(), [this](Node x) {
        return is_row(x) ? flow[x] >= 0 : flow[x] > 0;
    });
}

void SpanningTree::rehang(Node top, Node head, Node foot, Node join,
                          Mass above_head) {
    const int begin = position[top], length = size[top];
    for (Node x = parent[top]; x != join; x = parent[x])
        size[x] = static_cast<Node>(size[x] - length);
    for (Node x = foot; x != join; x = parent[x])
        size[x] = static_cast<Node>(size[x] + length);

    // Reverse the stem from head up to top. In the new preorder the slice of
    // head comes first, then what its old parent has beside it, and so on up.
    Node* out = slice_.data();
    const auto append = [&](int from, int to) {
        out = std::copy(order.begin() + from, order.begin() + to, out);
    };
    Node x = head, above = foot;
    Mass mass = above_head;
    int done_begin = position[head], done_end = position[head];
    for (;;) {
        const Node next = parent[x];
        const int from = position[x], to = position[x] + size[x];
        append(from, done_begin);
        append(done_end, to);
        size[x] = static_cast<Node>(length - (done_end - done_begin));
        done_begin = from;
        done_end = to;
        parent[x] = above;
        std::swap(flow[x], mass);
        if (x == top) break;
        above = x;
        x = next;
    }
    move_slice(begin, length, position[foot]);
}

void SpanningTree::move_slice(int begin, int length, int after) {
    Node* nodes = order.data();
    int first, last;  // the places that change
    if (after < begin) {
        std::memmove(
            nodes + after + 1 + length, nodes + after + 1,
            sizeof(Node) * static_cast<std::size_t>(begin - after - 1));
        std::copy_n(slice_.begin(), length, nodes + after + 1);
        first = after + 1;
        last = begin + length;
    } else {
        std::memmove(nodes + begin, nodes + begin + length,
                     sizeof(Node) *
                         static_cast<std::size_t>(after + 1 - begin - length));
        std::copy_n(slice_.begin(), length, nodes + after + 1 - length);
        first = begin;
        last = after + 1;
    }
    for (int k = first; k < last; ++k)
        position[nodes[k]] = static_cast<Node>(k);
}

void add_plan(const Problem& problem, const SpanningTree& tree, const Mass* r,
              const Mass* c, bool reduced, double scale, int n, double* sums) {
    const auto add = [&](int p, int q, Mass mass) {
        sums[p * static_cast<std::int64_t>(n) + q] += scale * to_double(mass);
    };
    for (int p = 0; reduced && p < n; ++p) add(p, p, std::min(r[p], c[p]));
    for_each_arc(problem, tree, add);
}

}  // namespace groundmetric
