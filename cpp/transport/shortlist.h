// The arcs of a large problem that an optimal plan most probably uses.
//
// Pricing all arcs of some rows streams through a matrix that no cache holds.
// The simplex prices the few arcs of each row on this list instead, until none
// of them improves the plan. Then all arcs are priced once: those that do are
// added, and if there are none, the plan is optimal. (Column generation, of
// which the shortlist is the restricted problem.)
#pragma once

#include <vector>

#include "transport/problem.h"
#include "transport/smoothed_problem.h"

namespace groundmetric {

class Shortlist {
public:
    struct Entry {
        double cost;
        int column;
    };

    // Without arcs the list is not used.
    void clear() { n_.clear(); }
    bool is_used() const { return !n_.empty(); }
    // Lists these arcs of the problem.
    void set(const Problem& problem,
             const std::vector<SmoothedProblem::Share>& arcs);
    // Adds an arc; if its row is full, in place of an old one.
    void add(int row, Entry entry);
    // The arc of the row with the smallest cost + potential, and this sum;
    // kHuge if there is none.
    double cheapest(int row, const double* column_potential,
                    Entry& entry) const;

private:
    static constexpr int kMost = 32;  // arcs of a row
    std::vector<int> n_;              // that were added to each row
    std::vector<Entry> entries_;      // kMost places for each row
};

}  // namespace groundmetric
