#include <cstdlib>
#include <cstring>

#include "kernels.h"

namespace groundmetric {

namespace baseline {
extern const Kernels table;
}
#ifdef __x86_64__
namespace avx2 {
extern const Kernels table;
}
namespace avx512 {
extern const Kernels table;
}
#endif

namespace {

const Kernels& choose() {
    const char* const wish = std::getenv("GROUNDMETRIC_ISA");
    const auto allowed = [wish](const char* name) {
        return wish == nullptr || std::strcmp(wish, name) == 0;
    };
#ifdef __x86_64__
    const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
    const bool has_avx512 = __builtin_cpu_supports("avx512f") != 0;
    if (has_avx512 && allowed("avx512")) return avx512::table;
    if (has_avx2 && (allowed("avx2") || allowed("avx512"))) return avx2::table;
#endif
    static_cast<void>(allowed);
    return baseline::table;
}

}  // namespace

const Kernels& kernels() {
    static const Kernels& chosen = choose();
    return chosen;
}

}  // namespace groundmetric
