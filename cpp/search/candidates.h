// The histograms of the base that each of them is compared with.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace groundmetric {

// All others, those of the same class, those of other classes, or those in a
// list. Always symmetric: if j is a candidate of i, then i is one of j.
class Candidates {
public:
    Candidates() = default;
    // Those of the same class, or those of other classes.
    Candidates(std::vector<std::int32_t> classes, bool same)
        : kind_(same ? Kind::same : Kind::other),
          classes_(std::move(classes)) {}
    // members[starts[i]] to members[starts[i + 1]] for histogram i.
    Candidates(std::vector<std::int64_t> starts,
               std::vector<std::int32_t> members)
        : kind_(Kind::listed),
          starts_(std::move(starts)),
          members_(std::move(members)) {}

    // Calls visit(j) for the candidates of histogram i, of n in all, except i.
    template <class Visit>
    void for_each(std::int64_t i, std::int64_t n, Visit visit) const {
        if (kind_ == Kind::listed) {
            for (std::int64_t k = starts_[i]; k < starts_[i + 1]; ++k)
                visit(std::int64_t{members_[k]});
            return;
        }
        for (std::int64_t j = 0; j < n; ++j) {
            const bool is_one =
                kind_ == Kind::all ||
                (classes_[i] == classes_[j]) == (kind_ == Kind::same);
            if (j != i && is_one) visit(j);
        }
    }

private:
    enum class Kind { all, same, other, listed };
    Kind kind_ = Kind::all;
    std::vector<std::int32_t> classes_;
    std::vector<std::int64_t> starts_;
    std::vector<std::int32_t> members_;
};

}  // namespace groundmetric
