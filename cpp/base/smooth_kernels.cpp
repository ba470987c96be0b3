// Compiled once for each instruction set, with GM_ISA naming it: see vectors.h.
#include "base/smooth_kernels.h"

#include "base/vectors.h"

namespace groundmetric::GM_ISA {
namespace {

constexpr int kParts = kFloatLanes / kFloats;

// 2^x for x in [-100, 0], to six digits.
inline Half power_of_two(Half x) {
    const HalfInts whole = to_ints(x);
    const Half f = x - to_floats(whole);  // in (-1, 0]
    const Half power =
        1.0f +
        f * (0.69314718f +
             f * (0.24022651f +
                  f * (0.05550411f + f * (0.00961813f + f * 0.00133336f))));
    return scaled(power, whole);
}

void soften(const double* cost, const double* offset, double least, double rate,
            int n, float* kernel) {
    const Vector most = Vector{} + 100.0;
    for (int j = 0; j < n; j += kWidth) {
        const Vector x = (load(cost + j) + load(offset + j) - least) * rate;
        store_half(kernel + j, power_of_two(-to_floats(min(x, most))));
    }
}

// The kFloatLanes partial sums of a row, always added up in this order: lanes k
// and k + 8, then k and k + 4, k and k + 2, and the last two.
inline float total(const Floats* parts) {
#if GM_WIDTH == 8
    const auto eight =
        __builtin_shufflevector(parts[0], parts[0], 0, 1, 2, 3, 4, 5, 6, 7) +
        __builtin_shufflevector(parts[0], parts[0], 8, 9, 10, 11, 12, 13, 14,
                                15);
#elif GM_WIDTH == 4
    const auto eight = parts[0] + parts[1];
#endif
#if GM_WIDTH >= 4
    const auto four = __builtin_shufflevector(eight, eight, 0, 1, 2, 3) +
                      __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
#else
    const auto four = (parts[0] + parts[2]) + (parts[1] + parts[3]);
#endif
    return (four[0] + four[2]) + (four[1] + four[3]);
}

// Rows in groups: they share the loads of the columns.
template <int kRows>
inline void balance_group(const float* kernel, int stride,
                          const float* column_factor, const float* supply,
                          float* row_factor, float* column_sum) {
    Floats sums[kRows][kParts] = {};
    for (int j = 0; j < stride; j += kFloatLanes)
        for (int k = 0; k < kParts; ++k) {
            const int at = j + k * kFloats;
            const Floats factor = load(column_factor + at);
            for (int i = 0; i < kRows; ++i)
                sums[i][k] +=
                    load(kernel + (long long)i * stride + at) * factor;
        }
    for (int i = 0; i < kRows; ++i) row_factor[i] = supply[i] / total(sums[i]);
    for (int j = 0; j < stride; j += kFloats) {
        Floats sum = load(column_sum + j);
        for (int i = 0; i < kRows; ++i)
            sum += row_factor[i] * load(kernel + (long long)i * stride + j);
        store(column_sum + j, sum);
    }
}

void balance(const float* kernel, int stride, int n_rows,
             const float* column_factor, const float* supply, float* row_factor,
             float* column_sum) {
    int i = 0;
    for (; i + 4 <= n_rows; i += 4)
        balance_group<4>(kernel + (long long)i * stride, stride, column_factor,
                         supply + i, row_factor + i, column_sum);
    for (; i < n_rows; ++i)
        balance_group<1>(kernel + (long long)i * stride, stride, column_factor,
                         supply + i, row_factor + i, column_sum);
}

void sharpen(float* kernel, const float* factor, int stride) {
    Floats top{};
    for (int j = 0; j < stride; j += kFloats) {
        const Floats x = load(kernel + j) * load(factor + j);
        top = max(top, x);
        store(kernel + j, x);
    }
    float largest = top[0];
    for (int k = 1; k < kFloats; ++k)
        largest = largest < top[k] ? top[k] : largest;
    const float scale = 1.0f / largest;
    const Floats least = Floats{} + 1e-8f;
    for (int j = 0; j < stride; j += kFloats) {
        const Floats x = max(load(kernel + j) * scale, least);
        const Floats square = x * x;
        store(kernel + j, square * square);
    }
}

// Bit k is set where a[k] > b[k].
inline unsigned above_bits(Floats a, Floats b) {
#if GM_WIDTH == 8
    return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ);
#elif GM_WIDTH == 4
    return (unsigned)_mm256_movemask_ps((__m256)(a > b));
#else
    unsigned bits = 0;
    for (int k = 0; k < kFloats; ++k) bits |= (unsigned)(a[k] > b[k]) << k;
    return bits;
#endif
}

int find_shares(const float* kernel, int stride, const float* column_factor,
                const float* demand, float row_factor, float supply,
                float least, int* found, float* shares) {
    int n = 0;
    for (int j = 0; j < stride; j += kFloats) {
        const Floats there = load(demand + j);
        const Floats here = Floats{} + supply;
        const Floats whole = min(there, here);
        const Floats x =
            load(kernel + j) * load(column_factor + j) * row_factor;
        for (unsigned bits = above_bits(x, whole * least); bits;
             bits &= bits - 1) {
            const int k = first_bit(bits);
            const float share = x[k] / whole[k];
            shares[n] = share < 1.0f ? share : 1.0f;
            found[n++] = j + k;
        }
    }
    return n;
}

}  // namespace

extern const SmoothKernels smooth_table;
const SmoothKernels smooth_table{soften, balance, sharpen, find_shares};

}  // namespace groundmetric::GM_ISA
