// Vectors of the instruction set that GM_ISA names; for the files that are
// compiled once for each. These include no standard header on purpose: an
// inline function of the standard library compiled for AVX-512 could be the
// copy that the linker keeps for all.
#pragma once

#include "base/kernels.h"
#include "base/portable.h"

#if !GM_HAS_VECTORS
#include "base/packs.h"
#elif defined(__x86_64__)
#include <immintrin.h>  // intrinsics only: always inlined, so safe here
#endif

#define GM_NAME_OF(isa) #isa
#define GM_NAME(isa) GM_NAME_OF(isa)

namespace groundmetric::GM_ISA {
namespace {

// As many doubles as a register holds, twice as many floats, or as many floats
// and integers in half a register.
constexpr int kWidth = GM_WIDTH;
static_assert(kLanes % kWidth == 0);
constexpr int kFloats = 2 * kWidth;

#if GM_HAS_VECTORS
// The aliases with the alignment of one entry are for loads from and stores to
// plain arrays.
typedef double Vector __attribute__((vector_size(kWidth * sizeof(double))));
typedef double Unaligned __attribute__((vector_size(kWidth * sizeof(double)),
                                        aligned(8), may_alias));
typedef float Floats __attribute__((vector_size(kFloats * sizeof(float))));
typedef float UnalignedFloats __attribute__((
    vector_size(kFloats * sizeof(float)), aligned(4), may_alias));
typedef float Half __attribute__((vector_size(kWidth * sizeof(float))));
typedef float UnalignedHalf
    __attribute__((vector_size(kWidth * sizeof(float)), aligned(4), may_alias));
typedef int HalfInts __attribute__((vector_size(kWidth * sizeof(int))));

inline Vector load(const double* x) { return *(const Unaligned*)x; }
inline Floats load(const float* x) { return *(const UnalignedFloats*)x; }
inline void store(double* x, Vector value) { *(Unaligned*)x = value; }
inline void store(float* x, Floats value) { *(UnalignedFloats*)x = value; }
inline void store_half(float* x, Half value) { *(UnalignedHalf*)x = value; }

inline Vector min(Vector a, Vector b) { return a < b ? a : b; }
inline Vector max(Vector a, Vector b) { return a < b ? b : a; }
inline Floats min(Floats a, Floats b) { return a < b ? a : b; }
inline Floats max(Floats a, Floats b) { return a < b ? b : a; }

inline Half to_floats(Vector x) { return __builtin_convertvector(x, Half); }
inline Half to_floats(HalfInts x) { return __builtin_convertvector(x, Half); }
inline HalfInts to_ints(Half x) { return __builtin_convertvector(x, HalfInts); }
// x 2^n, for normal numbers.
inline Half scaled(Half x, HalfInts n) {
    return (Half)((HalfInts)x + (n << 23));
}

inline int first_bit(unsigned bits) { return __builtin_ctz(bits); }
inline double square_root(double x) { return __builtin_sqrt(x); }
inline double multiply_add(double x, double y, double z) {
    return __builtin_fma(x, y, z);
}
#else
using Vector = Pack<double, kWidth>;
using Floats = Pack<float, kFloats>;
using Half = Pack<float, kWidth>;
using HalfInts = Pack<int, kWidth>;

template <class T, int n>
void copy(const Pack<T, n>& from, T* to) {
    for (int k = 0; k < n; ++k) to[k] = from[k];
}
template <class T, int n>
Pack<T, n> copied(const T* from) {
    Pack<T, n> to;
    for (int k = 0; k < n; ++k) to[k] = from[k];
    return to;
}
inline Vector load(const double* x) { return copied<double, kWidth>(x); }
inline Floats load(const float* x) { return copied<float, kFloats>(x); }
inline void store(double* x, const Vector& value) { copy(value, x); }
inline void store(float* x, const Floats& value) { copy(value, x); }
inline void store_half(float* x, const Half& value) { copy(value, x); }

inline Half to_floats(const Vector& x) { return Half(x); }
inline Half to_floats(const HalfInts& x) { return Half(x); }
inline HalfInts to_ints(const Half& x) { return HalfInts(x); }
inline Half scaled(Half x, const HalfInts& n) {
    for (int k = 0; k < kWidth; ++k)
        x[k] = std::bit_cast<float>(std::bit_cast<int>(x[k]) + (n[k] << 23));
    return x;
}

inline int first_bit(unsigned bits) { return std::countr_zero(bits); }
inline double square_root(double x) { return std::sqrt(x); }
inline double multiply_add(double x, double y, double z) {
    return std::fma(x, y, z);
}
#endif

}  // namespace
}  // namespace groundmetric::GM_ISA
