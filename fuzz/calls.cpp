#include "calls.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "batch/dense_batch.h"
#include "batch/pairwise.h"
#include "cone/projector.h"
#include "search/dense_search.h"
#include "search/point_search.h"
#include "sparse/sparse_pairwise.h"
#include "tables/table_sum.h"
#include "transport/certificate.h"

namespace groundmetric::fuzz {
namespace {

using Function = std::function<Numbers(const Threading&)>;

std::size_t square(int n) { return static_cast<std::size_t>(n) * n; }

Numbers distances_of(const Neighborhoods& found) {
    Numbers out;
    for (const Neighbor& neighbor : found.neighbors) {
        out.push_back(neighbor.distance);
        out.push_back(static_cast<double>(neighbor.index));
    }
    return out;
}

Function transport_call(const Example& example, int) {
    return [masses = example.masses(),
            matrix = example.matrix()](const Threading& threading) {
        const Certificate proof =
            transport(masses->row(0), masses->row(1), masses->unit(), *matrix,
                      threading.poll);
        Numbers out{proof.value, proof.dual_value};
        out.insert(out.end(), proof.flow.begin(), proof.flow.end());
        return out;
    };
}

Function pairwise_call(const Example& example, int n, bool hub) {
    const auto matrix = hub ? example.cut_matrix() : example.matrix();
    return [masses = example.masses(), matrix, n](const Threading& threading) {
        Numbers out(square(n));
        pairwise(*masses, *masses, *matrix, {true, true}, threading,
                 out.data());
        return out;
    };
}

Function batch_call(const Example& example, int d) {
    const std::vector<std::int64_t> pairs = example.pairs();
    const auto n = static_cast<std::int64_t>(pairs.size() / 2);
    const auto batch = std::make_shared<DenseBatch>(
        example.masses(), example.masses(), pairs.data(), n,
        [](auto) { return true; });
    const auto matrix = example.matrix();
    return [batch, matrix, n, d](const Threading& threading) {
        Numbers values(static_cast<std::size_t>(n));
        std::vector<std::int32_t> n_pivots(values.size());
        std::vector<std::int64_t> chosen(values.size());
        std::iota(chosen.begin(), chosen.end(), 0);
        batch->solve(*matrix, chosen.data(), n, threading, values.data(),
                     n_pivots.data());
        return values;
    };
}

Function search_call(const Example& example, int n) {
    const auto matrix = example.matrix();
    const auto search = std::make_shared<DenseSearch>(
        example.masses(), matrix, [](auto) { return true; });
    Request request;
    request.n_neighbors = 3;
    request.radii.assign(static_cast<std::size_t>(n),
                         std::numeric_limits<double>::infinity());
    request.keep_trees = true;
    request.end = n;
    return [search, request](const Threading& threading) {
        return distances_of(search->find(nullptr, request, threading));
    };
}

Function points_call(const Example& example, int n) {
    return [masses = example.sparse_masses(), points = example.points(),
            n](const Threading& threading) {
        Numbers out(square(n));
        pairwise(*masses, *masses, *points, {true, true}, threading,
                 out.data());
        Request request;
        request.n_neighbors = 3;
        request.radii.assign(static_cast<std::size_t>(n), kHuge);
        const Numbers found =
            distances_of(PointSearch(masses, points)
                             .find(nullptr, 0, request, false, threading));
        out.insert(out.end(), found.begin(), found.end());
        return out;
    };
}

// Forgets the last projection, so that all results are the same.
Function projection_call(const Example& example, int d) {
    const auto projector = std::make_shared<MetricProjector>(d);
    return
        [projector, input = example.broken(), d](const Threading& threading) {
            Numbers out(square(d));
            const ProjectionOptions options{
                1e-6, 0.0, 100, threading.n_threads, threading.poll, {}};
            projector->forget(threading.poll);
            projector->project(input.data(), nullptr, options, out.data());
            return out;
        };
}

// Weights over ten decades: the direct method takes over. The example is not
// used, for this takes time.
Function weighted_call(const Example&) {
    constexpr int d = 9;
    Numbers input(square(d)), weights(square(d));
    for (int p = 0; p < d; ++p)
        for (int q = 0; q < d; ++q) {
            const int mixed = p * q + p + q;
            input[p * d + q] = p == q ? 0.0 : std::cos(1.0 * mixed * mixed);
            weights[p * d + q] = std::pow(10.0, -(7 * mixed % 11));
        }
    const auto projector = std::make_shared<MetricProjector>(d);
    return [=](const Threading& threading) {
        Numbers out(square(d));
        const ProjectionOptions options{
            1e-6, 0.0, 100, threading.n_threads, threading.poll, {}};
        projector->forget(threading.poll);
        projector->project(input.data(), weights.data(), options, out.data());
        return out;
    };
}

Function tables_call(const Example& example, int d) {
    return [pairs = example.pairs(), histograms = example.histograms(),
            d](const Threading& threading) {
        Numbers out(square(d)), weights(pairs.size() / 2, 1.0);
        typical_sum(histograms.data(), d, pairs.data(), weights.data(),
                    static_cast<std::int64_t>(weights.size()), 10.0, threading,
                    out.data());
        return out;
    };
}

}  // namespace

std::vector<Call> all_calls(const Example& example, int n, int d) {
    const auto call = [&](auto make, auto... sizes) {
        return [=, &example] { return make(example, sizes...); };
    };
    return {{"transport", call(transport_call, n)},
            {"pairwise", call(pairwise_call, n, false)},
            {"hub", call(pairwise_call, n, true)},
            {"batch", call(batch_call, d)},
            {"search", call(search_call, n)},
            {"points", call(points_call, n)},
            {"projection", call(projection_call, d), true},
            {"weighted projection", call(weighted_call), true},
            {"tables", call(tables_call, d)}};
}

}  // namespace groundmetric::fuzz
