// Which arc enters the basis: arcs priced before, blocks of rows, the
// shortlist.
#include <algorithm>
#include <cassert>

#include "base/kernels.h"
#include "base/row_blocks.h"
#include "transport/simplex.h"

namespace groundmetric {

// The arc with the most negative reduced cost, which is taken from the
// list, as are those that no longer have one.
bool TransportSimplex::choose_priced_arc(Arc& entering) {
    if (priced_arcs_.empty()) return false;
    const double* column_potential = potential.data() + problem.n_rows();
    double most = -rounding;
    std::size_t n = 0, best = 0;
    for (const PricedArc& arc : priced_arcs_) {
        const double reduced =
            arc.cost + column_potential[arc.column] - potential[arc.row];
        if (reduced >= -rounding) continue;
        if (reduced < most) {
            most = reduced;
            best = n;
        }
        priced_arcs_[n++] = arc;
    }
    priced_arcs_.resize(n);
    if (n == 0) return false;
    const PricedArc& chosen = priced_arcs_[best];
    entering = {chosen.row, static_cast<Node>(problem.n_rows() + chosen.column),
                most};
    priced_arcs_[best] = priced_arcs_.back();
    priced_arcs_.pop_back();
    return true;
}

// The best arc of the block of rows, whose minima are given; the best arcs of
// the other rows are kept for later, unless rows are so short that pricing them
// again is cheaper.
bool TransportSimplex::choose_from_block(int n, const double* minima,
                                         Arc& entering) {
    const double* column_potential = potential.data() + problem.n_rows();
    double most = -rounding;
    int best = -1;
    for (int k = 0; k < n; ++k) {
        const double reduced = minima[k] - potential[next_row_ + k];
        if (reduced < most) {
            most = reduced;
            best = k;
        }
    }
    if (best < 0) return false;
    const auto cheapest = [&](int k) {
        return kernels().find(problem.cost_row(next_row_ + k), column_potential,
                              problem.stride, minima[k]);
    };
    const int column = cheapest(best);
    assert(column < problem.n_columns());
    entering = {static_cast<Node>(next_row_ + best),
                static_cast<Node>(problem.n_rows() + column), most};
    if (has_short_rows()) return true;
    for (int k = 0; k < n; ++k) {
        const int row = next_row_ + k;
        if (k == best || minima[k] - potential[row] >= -rounding) continue;
        const int other = cheapest(k);
        priced_arcs_.push_back({static_cast<Node>(row),
                                static_cast<Node>(other),
                                problem.cost_row(row)[other]});
    }
    return true;
}

// Blocks of rows follow each other when the kept arcs are used up. The plan is
// optimal when a whole round found none.
bool TransportSimplex::find_entering_arc(Arc& entering, StopToken& stop) {
    constexpr int kBlock = 16;
    const int block = has_short_rows() ? kBlock / 2 : kBlock;
    if (choose_priced_arc(entering)) return true;
    if (shortlist_.is_used()) return find_on_shortlist(entering, stop);
    const int m = problem.n_rows();
    bool found = false;
    for (int n_priced = 0; !found && n_priced < m;) {
        const int n = std::min(block, m - next_row_);
        double minima[kBlock];
        kernels().row_minima(problem.cost_row(next_row_), problem.stride,
                             potential.data() + m, n, minima);
        found = choose_from_block(n, minima, entering);
        next_row_ = next_row_ + n == m ? 0 : next_row_ + n;
        n_priced += n;
    }
    return found;
}

// The same on the shortlist. It is extended when it has nothing more to offer,
// or has served for many pivots: with better arcs these would have been fewer.
bool TransportSimplex::find_on_shortlist(Arc& entering, StopToken& stop) {
    constexpr int kBlock = 64;
    const int m = problem.n_rows();
    // Passes over more costs than a cache holds had better be few.
    const int patience = problem.n_nodes() / (n_arcs() > 1L << 20 ? 2 : 5);
    if (n_pivots >= n_extended_ + patience) extend_shortlist(stop);
    do {
        for (int n_priced = 0; n_priced < m;) {
            const int end = std::min(next_row_ + kBlock, m);
            for (int i = next_row_; i < end; ++i) {
                Shortlist::Entry entry;
                const double least =
                    shortlist_.cheapest(i, potential.data() + m, entry);
                if (least - potential[i] < -rounding)
                    priced_arcs_.push_back({static_cast<Node>(i),
                                            static_cast<Node>(entry.column),
                                            entry.cost});
            }
            n_priced += end - next_row_;
            next_row_ = end == m ? 0 : end;
            if (choose_priced_arc(entering)) return true;
        }
    } while (extend_shortlist(stop));
    return false;
}

// Prices all arcs and adds the best of each row to the shortlist; false if
// there is none.
bool TransportSimplex::extend_shortlist(StopToken& stop) {
    refresh();
    n_extended_ = n_pivots;
    const int m = problem.n_rows();
    best_.assign(static_cast<std::size_t>(m), kNone);
    for_row_blocks(m, problem.stride, stop, [this](int begin, int end) {
        for (int i = begin; i < end; i += kFew)
            find_best(i, std::min(kFew, end - i));
    });
    bool found = false;
    for (int i = 0; i < m; ++i) {
        if (best_[i] == kNone) continue;
        shortlist_.add(i, {problem.cost_row(i)[best_[i]], best_[i]});
        found = true;
    }
    return found;
}

// Sets the best arcs of n rows that have one to offer; so few rows that a cache
// holds them until `find` reads them again.
void TransportSimplex::find_best(int row, int n) {
    const double* column_potential = potential.data() + problem.n_rows();
    double minima[kFew];
    kernels().row_minima(problem.cost_row(row), problem.stride,
                         column_potential, n, minima);
    for (int k = 0; k < n; ++k)
        if (minima[k] - potential[row + k] < -rounding)
            best_[row + k] =
                kernels().find(problem.cost_row(row + k), column_potential,
                               problem.stride, minima[k]);
}

}  // namespace groundmetric
