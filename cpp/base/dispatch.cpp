#include <cstdlib>
#include <cstring>

#include "base/kernels.h"
#include "base/point_kernels.h"
#include "base/smooth_kernels.h"
#include "base/typical_kernels.h"

namespace groundmetric {

namespace baseline {
extern const Kernels table;
extern const PointKernels point_table;
extern const SmoothKernels smooth_table;
extern const TypicalKernels typical_table;
}  // namespace baseline
#ifdef GM_X86_KERNELS
namespace avx2 {
extern const Kernels table;
extern const PointKernels point_table;
extern const SmoothKernels smooth_table;
extern const TypicalKernels typical_table;
}  // namespace avx2
namespace avx512 {
extern const Kernels table;
extern const PointKernels point_table;
extern const SmoothKernels smooth_table;
extern const TypicalKernels typical_table;
}  // namespace avx512
#endif

namespace {

struct Tables {
    const Kernels& kernels;
    const PointKernels& points;
    const SmoothKernels& smooth;
    const TypicalKernels& typical;
};

Tables choose() {
#ifdef GM_X86_KERNELS
    const char* const wish = std::getenv("GROUNDMETRIC_ISA");
    const auto wished = [wish](const char* name) {
        return wish == nullptr || std::strcmp(wish, name) == 0;
    };
    if (__builtin_cpu_supports("avx512f") && wished("avx512"))
        return {avx512::table, avx512::point_table, avx512::smooth_table,
                avx512::typical_table};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        (wished("avx2") || wished("avx512")))
        return {avx2::table, avx2::point_table, avx2::smooth_table,
                avx2::typical_table};
#endif
    return {baseline::table, baseline::point_table, baseline::smooth_table,
            baseline::typical_table};
}

const Tables& chosen() {
    static const Tables tables = choose();
    return tables;
}

}  // namespace

const Kernels& kernels() { return chosen().kernels; }
const PointKernels& point_kernels() { return chosen().points; }
const SmoothKernels& smooth_kernels() { return chosen().smooth; }
const TypicalKernels& typical_kernels() { return chosen().typical; }

}  // namespace groundmetric
