// What the bindings of all parts share: arrays in and out, Ctrl-C, progress.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>

#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "parallel.h"

namespace nb = nanobind;
namespace gm = groundmetric;
using namespace nb::literals;

template <class T, int kDims>
using In = nb::ndarray<const T, nb::ndim<kDims>, nb::c_contig, nb::device::cpu>;
template <class T>
using InOut = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T, int kDims>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<kDims>>;
// Called now and then with the number of items done.
using Progress = std::optional<nb::typed<nb::callable, void(std::int64_t)>>;

// For properties that return arrays of their own.
inline constexpr auto kOwned = nb::rv_policy::automatic;

// Hands a vector over to numpy without a copy.
template <class T>
Out<T, 1> to_numpy(std::vector<T> values) {
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept {
        delete static_cast<std::vector<T>*>(p);
    });
    return Out<T, 1>(owned->data(), {owned->size()}, owner);
}

template <class T>
std::vector<T> to_vector(const In<T, 1>& values) {
    return std::vector<T>(values.data(), values.data() + values.shape(0));
}

inline Out<double, 2> new_matrix(std::size_t n, std::size_t m) {
    auto* data = new double[n * m];
    nb::capsule owner(
        data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
    return Out<double, 2>(data, {n, m}, owner);
}

// Looks for Ctrl-C, and reports progress if asked to.
inline gm::Poll make_poll(const Progress& progress) {
    return [&progress](std::int64_t n_done) {
        const nb::gil_scoped_acquire gil;
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

// Runs long work without the GIL; a poll that stopped it has set Python's
// error.
template <class Work>
auto without_gil(Work work) {
    try {
        const nb::gil_scoped_release release;
        return work();
    } catch (const gm::Stopped&) {
        throw nb::python_error();
    }
}

void bind_cone(nb::module_& m);
void bind_search(nb::module_& m);
void bind_tables(nb::module_& m);
void bind_transport(nb::module_& m);
