// Vectors as arrays, for compilers without vector extensions; see vectors.h.
// Included for the baseline alone, so standard headers do no harm here.
#pragma once

#include <bit>
#include <cmath>

namespace groundmetric {

template <class T, int n>
class Pack {
public:
    Pack() = default;
    Pack(T x) {
        for (T& lane : lanes_) lane = x;
    }
    template <class U>
    explicit Pack(const Pack<U, n>& other) {
        for (int k = 0; k < n; ++k) lanes_[k] = static_cast<T>(other[k]);
    }

    T& operator[](int k) { return lanes_[k]; }
    const T& operator[](int k) const { return lanes_[k]; }

    friend Pack operator+(Pack a, const Pack& b) { return a += b; }
    friend Pack operator-(Pack a, const Pack& b) {
        for (int k = 0; k < n; ++k) a[k] -= b[k];
        return a;
    }
    friend Pack operator*(Pack a, const Pack& b) {
        for (int k = 0; k < n; ++k) a[k] *= b[k];
        return a;
    }
    friend Pack operator/(Pack a, const Pack& b) {
        for (int k = 0; k < n; ++k) a[k] /= b[k];
        return a;
    }
    friend Pack operator-(Pack a) {
        for (T& lane : a.lanes_) lane = -lane;
        return a;
    }
    Pack& operator+=(const Pack& other) {
        for (int k = 0; k < n; ++k) lanes_[k] += other[k];
        return *this;
    }

    friend Pack min(Pack a, const Pack& b) {
        for (int k = 0; k < n; ++k) a[k] = a[k] < b[k] ? a[k] : b[k];
        return a;
    }
    friend Pack max(Pack a, const Pack& b) {
        for (int k = 0; k < n; ++k) a[k] = a[k] < b[k] ? b[k] : a[k];
        return a;
    }

private:
    T lanes_[n];
};

}  // namespace groundmetric
