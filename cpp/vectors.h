// Vectors of the instruction set that GM_ISA names; for the files that are
// compiled once for each. These include no standard header on purpose: an
// inline function of the standard library compiled for AVX-512 could be the
// copy that the linker keeps for all.
#pragma once

#include "kernels.h"

#ifdef __x86_64__
#include <immintrin.h>  // intrinsics only: always inlined, so safe here
#endif

#define GM_NAME_OF(isa) #isa
#define GM_NAME(isa) GM_NAME_OF(isa)

namespace groundmetric::GM_ISA {
namespace {

// As many doubles as a register holds. The alias with alignment 8 is for loads
// from and stores to plain arrays.
#if defined(__AVX512F__)
constexpr int kWidth = 8;
#elif defined(__AVX2__)
constexpr int kWidth = 4;
#else
constexpr int kWidth = 2;
#endif
static_assert(kLanes % kWidth == 0);
typedef double Vector __attribute__((vector_size(kWidth * sizeof(double))));
typedef double Unaligned __attribute__((vector_size(kWidth * sizeof(double)),
                                        aligned(8), may_alias));

inline Vector load(const double* x) { return *(const Unaligned*)x; }
inline void store(double* x, Vector value) { *(Unaligned*)x = value; }

}  // namespace
}  // namespace groundmetric::GM_ISA
