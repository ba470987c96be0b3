// Would a spanning tree of links be faster than slices of an array?
//
//     g++ -O3 -std=c++20 benchmarks/links.cpp -o build/links && build/links
//
// Nodes in random preorder, a model of the tree and not the tree itself: shifts
// the potentials of a subtree by following links, and by a slice, which also
// has to be moved and its places rewritten. Sizes are means a pivot, as counted
// in SpanningTree::move_slice for random and (the last) squared Euclidean
// costs.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <numeric>
#include <random>
#include <vector>

using Node = std::uint16_t;

struct Size {
    int nodes, subtree, places;
};

template <class Task>
double microseconds(const Task& task) {
    constexpr int kTasks = 20000, kRounds = 9;
    double best = 1e9;
    for (int round = 0; round < kRounds; ++round) {
        const std::clock_t start = std::clock();
        for (int k = 0; k < kTasks; ++k) task(k * 37);
        best = std::min(
            best, 1e6 * double(std::clock() - start) / CLOCKS_PER_SEC / kTasks);
    }
    return best;
}

int main() {
    for (const Size size : {Size{2048, 437, 850}, Size{4096, 837, 1682},
                            Size{8192, 1675, 3345}, Size{8192, 796, 1434}}) {
        const auto [n, subtree, places] = size;
        std::vector<Node> order(n), next(n), position(n), slice(n);
        std::vector<double> potential(n);
        std::iota(order.begin(), order.end(), Node{0});
        std::shuffle(order.begin(), order.end(), std::mt19937(1));
        for (int k = 0; k < n; ++k) next[order[k]] = order[(k + 1) % n];
        const double links = microseconds([&](int k) {
            Node x = order[k % (n - subtree)];
            for (int i = 0; i < subtree; ++i, x = next[x]) potential[x] += 1e-9;
        });
        const double shift = microseconds([&](int k) {
            const Node* x = order.data() + k % (n - subtree);
            for (int i = 0; i < subtree; ++i) potential[x[i]] += 1e-9;
        });
        const double move = microseconds([&](int k) {
            const int begin = k % (n - places), rest = places - subtree;
            Node* at = order.data() + begin;
            std::copy_n(at, subtree, slice.data());
            std::memmove(at, at + subtree, sizeof(Node) * rest);
            std::copy_n(slice.data(), subtree, at + rest);
            for (int i = 0; i < places; ++i) position[at[i]] = Node(begin + i);
        });
        std::printf(
            "%d nodes, %d moved: links %.2f us, slices %.2f us "
            "(%.2f to shift, %.2f to move) %s\n",
            n, subtree, links, shift + move, shift, move,
            potential[0] + position[0] < 0 ? "!" : "");
    }
}
