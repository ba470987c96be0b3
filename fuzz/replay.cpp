// Runs files through a fuzz target without a fuzzer, so that any compiler will
// do: replay FILE...
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size);

int main(int n_arguments, char** arguments) {
    for (int k = 1; k < n_arguments; ++k) {
        std::ifstream file(arguments[k], std::ios::binary);
        if (!file) {
            std::fprintf(stderr, "%s cannot be read.\n", arguments[k]);
            return 2;
        }
        const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
        // If this aborts, the file that did it is the last one named.
        std::fprintf(stderr, "%s\n", arguments[k]);
        LLVMFuzzerTestOneInput(
            reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    }
    std::printf("%d inputs\n", n_arguments - 1);
    return 0;
}
