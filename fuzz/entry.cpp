// What a fuzzer, or replay.cpp, calls: one entry for all targets.
#include "input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
    groundmetric::fuzz::Input input(data, size);
    groundmetric::fuzz::run(input);
    return 0;
}
