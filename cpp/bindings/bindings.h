// Shared by all bindings: arrays in and out, Ctrl-C, progress.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/masses.h"
#include "base/parallel.h"
#include "transport/cost.h"

namespace nb = nanobind;
namespace gm = groundmetric;
using namespace nb::literals;

template <class T, int kDims>
using In = nb::ndarray<const T, nb::ndim<kDims>, nb::c_contig, nb::device::cpu>;
template <class T, int kDims>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<kDims>>;
// Called now and then with the number of items done.
using Progress = std::optional<nb::typed<nb::callable, void(std::int64_t)>>;

// For properties that return arrays of their own.
inline constexpr auto kOwned = nb::rv_policy::automatic;

// Hands a vector over to numpy without a copy.
template <class T>
Out<T, 1> to_numpy(std::vector<T> values) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    nb::capsule owner(owned.get(), [](void* p) noexcept {
        delete static_cast<std::vector<T>*>(p);
    });
    std::vector<T>& kept = *owned.release();
    return Out<T, 1>(kept.data(), {kept.size()}, owner);
}

template <class T>
std::vector<T> to_vector(const In<T, 1>& values) {
    return std::vector<T>(values.data(), values.data() + values.shape(0));
}

template <class T = double>
Out<T, 2> new_matrix(std::size_t n, std::size_t m) {
    auto data = std::make_unique_for_overwrite<T[]>(n * m);
    nb::capsule owner(data.get(),
                      [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return Out<T, 2>(data.release(), {n, m}, owner);
}

// Polls so far, of all calls.
inline std::atomic<std::int64_t> n_polls{0};

// Checks for Ctrl-C, and reports progress if requested.
inline gm::Poll make_poll(const Progress& progress) {
    return [&progress](std::int64_t n_done) {
        const nb::gil_scoped_acquire gil;
        ++n_polls;
        if (PyErr_CheckSignals() != 0) return false;
        if (!progress) return true;
        try {
            (*progress)(n_done);
        } catch (nb::python_error& error) {
            error.restore();
            return false;
        }
        return true;
    };
}

// Runs long work without the GIL. If a poll stops it, the poll has set the
// Python error.
template <class Work>
auto without_gil(Work work) {
    try {
        const nb::gil_scoped_release release;
        return work();
    } catch (const gm::Stopped&) {
        throw nb::python_error();
    }
}

// Indices and shapes are checked again here: a wrong one would read or write
// memory out of bounds.
inline void require(bool is_right, const std::string& otherwise) {
    if (!is_right) throw std::invalid_argument(otherwise);
}

// Makes no string unless it is needed: millions of entries are checked.
inline void require(bool is_right, const char* otherwise) {
    if (!is_right) throw std::invalid_argument(otherwise);
}

inline void require_length(std::size_t length, std::size_t wanted,
                           const std::string& name) {
    require(length == wanted, name + " has " + std::to_string(length) +
                                  " entries, but " + std::to_string(wanted) +
                                  " are needed.");
}

template <class Array>
void require_shape(const Array& array, std::size_t n, std::size_t m,
                   const std::string& name) {
    const auto shape = [](std::size_t rows, std::size_t columns) {
        return "(" + std::to_string(rows) + ", " + std::to_string(columns) +
               ")";
    };
    require(array.shape(0) == n && array.shape(1) == m,
            name + " has shape " + shape(array.shape(0), array.shape(1)) +
                ", but " + shape(n, m) + " is needed.");
}

// low <= values[k] < high for all n of them.
template <class T>
void require_range(const T* values, std::size_t n, std::int64_t low,
                   std::int64_t high, const std::string& name) {
    for (std::size_t k = 0; k < n; ++k)
        if (values[k] < low || values[k] >= high)
            throw std::invalid_argument(
                name + "[" + std::to_string(k) + "] is " +
                std::to_string(values[k]) + ", but it must be at least " +
                std::to_string(low) + " and less than " + std::to_string(high) +
                ".");
}

// Costs from m bins to n.
inline void require_cost(const gm::CostMatrix& cost, int m, int n) {
    const auto bins = [](int rows, int columns) {
        return std::to_string(rows) + " x " + std::to_string(columns);
    };
    require(cost.n_rows() == m && cost.n_columns() == n,
            "The cost is " + bins(cost.n_rows(), cost.n_columns()) +
                ", but the histograms need one of " + bins(m, n) + ".");
}

inline void require_same_mass(const gm::Masses& x, const gm::Masses& y) {
    require(x.has_mass_of(y), "The two sets of histograms differ in mass.");
}

void bind_dense_batch(nb::module_& m);
void bind_cone(nb::module_& m);
void bind_line(nb::module_& m);
void bind_dense_search(nb::module_& m);
void bind_sparse_batch(nb::module_& m);
void bind_sparse(nb::module_& m);
void bind_tables(nb::module_& m);
void bind_transport(nb::module_& m);
