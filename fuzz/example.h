// Random problems of a fixed seed, for the programs that are not fuzzers.
#pragma once

#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "base/masses.h"
#include "sparse/points.h"
#include "sparse/sparse_masses.h"
#include "transport/cost.h"

namespace groundmetric::fuzz {

class Example {
public:
    Example(int n, int d) : n_(n), d_(d) {
        std::mt19937 generator(7);
        std::uniform_real_distribution<double> uniform(0.0, 1.0);
        for (int k = 0; k < 3 * d; ++k)
            coordinates_.push_back(uniform(generator));
        for (int p = 0; p < d; ++p)
            for (int q = 0; q < d; ++q) metric_.push_back(distance(p, q));
        for (int i = 0; i < n; ++i) {
            double mass = 0.0;
            for (int p = 0; p < d; ++p) {
                const double x = uniform(generator);
                histograms_.push_back(x < 0.3 ? 0.0 : x);
                mass += histograms_.back();
            }
            for (int p = 0; p < d; ++p) histograms_[i * d + p] /= mass;
        }
    }

    const std::vector<double>& metric() const { return metric_; }
    const std::vector<double>& histograms() const { return histograms_; }
    using Matrix = std::shared_ptr<const CostMatrix>;
    Matrix matrix() const {
        return std::make_shared<const CostMatrix>(metric_.data(), d_, d_);
    }
    // Most entries equal the largest: pairs are solved through a hub.
    Matrix cut_matrix() const {
        std::vector<double> cut = metric_;
        for (double& x : cut) x = std::min(x, 0.3);
        return std::make_shared<const CostMatrix>(cut.data(), d_, d_);
    }
    // Not a metric, for projections.
    std::vector<double> broken() const {
        std::vector<double> out = metric_;
        for (int p = 0; p < d_; ++p)
            for (int q = 0; q < p; ++q)
                out[p * d_ + q] = out[q * d_ + p] *= (p * q) % 3;
        return out;
    }
    std::shared_ptr<const Masses> masses() const {
        return std::make_shared<const Masses>(histograms_.data(), n_, d_, 1.0);
    }
    std::shared_ptr<const Points> points() const {
        return std::make_shared<const Points>(coordinates_.data(), d_, 3);
    }
    std::shared_ptr<const SparseMasses> sparse_masses() const {
        std::vector<double> values;
        std::vector<std::int32_t> bins;
        std::vector<std::int64_t> starts{0};
        for (int i = 0; i < n_; ++i) {
            for (int p = 0; p < d_; ++p)
                if (const double x = histograms_[i * d_ + p]; x > 0.0) {
                    values.push_back(x);
                    bins.push_back(p);
                }
            starts.push_back(static_cast<std::int64_t>(bins.size()));
        }
        return std::make_shared<const SparseMasses>(values.data(), bins.data(),
                                                    starts.data(), n_, d_, 1.0);
    }
    // Pairs (i, j), i < j.
    std::vector<std::int64_t> pairs() const {
        std::vector<std::int64_t> out;
        for (int i = 0; i < n_; ++i)
            for (int j = i + 1; j < n_; ++j) {
                out.push_back(i);
                out.push_back(j);
            }
        return out;
    }

private:
    double distance(int p, int q) const {
        double square = 0.0;
        for (int k = 0; k < 3; ++k)
            square +=
                std::pow(coordinates_[3 * p + k] - coordinates_[3 * q + k], 2);
        return std::sqrt(square);
    }

    int n_, d_;
    std::vector<double> coordinates_, metric_, histograms_;
};

}  // namespace groundmetric::fuzz
