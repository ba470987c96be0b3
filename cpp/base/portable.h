// What compilers offer beyond standard C++, in one place. Each feature has a
// replacement that gives the same results to the last bit, only slower;
// GM_PORTABLE selects the replacements, and is how they are tested.
//
// Includes no standard header: see vectors.h.
#pragma once

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "groundmetric supports little-endian machines only"
#endif
static_assert(sizeof(void*) == 8, "groundmetric supports 64-bit machines only");

#if (defined(__GNUC__) || defined(__clang__)) && !defined(GM_PORTABLE)
#define GM_HAS_VECTORS 1  // vector_size and the builtins for vectors
#else
#define GM_HAS_VECTORS 0
#endif

// Doubles in a vector: the width of a register.
#if GM_HAS_VECTORS && defined(__AVX512F__)
#define GM_WIDTH 8
#elif GM_HAS_VECTORS && defined(__AVX2__)
#define GM_WIDTH 4
#else
#define GM_WIDTH 2
#endif

// Clang for Windows has the type, but not the library that converts it.
#if defined(__SIZEOF_INT128__) && !defined(_MSC_VER) && !defined(GM_PORTABLE)
#define GM_HAS_INT128 1
#else
#define GM_HAS_INT128 0
#endif
