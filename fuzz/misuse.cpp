// Misuse that an assert must catch, in builds that keep asserts. Each case runs
// in a process of its own, which has to abort.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "checks.h"
#include "cone/working_set.h"

namespace groundmetric::fuzz {
namespace {

// improve() reorders the triangles, so that the lists of those with the same
// far edge no longer hold until drop_idle().
void work(bool is_misuse) {
    constexpr int kBins = 3, kStride = 8;
    const std::vector<double> weights(kBins * kStride, 1.0);
    std::vector<double> matrix(weights.size(), 1.0);
    matrix[1] = matrix[kStride] = 5.0;  // m_01 > m_02 + m_21
    Shared shared{kGoOn};
    StopToken stop(shared, true);
    WorkingSet set(kBins, kStride);
    set.load(matrix.data(), weights.data(), {}, 1.0);
    set.add(0, 1, 2);
    set.improve(0.0, 0.0, 0.0, stop);
    if (!is_misuse) set.drop_idle();
    set.add(0, 2, 1);
}

int signal_of(bool is_misuse) {
    const pid_t child = fork();
    if (child == 0) {
        std::fclose(stderr);  // the words of the assert
        work(is_misuse);
        _exit(0);
    }
    int status = 0;
    require(waitpid(child, &status, 0) == child, "the child");
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

}  // namespace
}  // namespace groundmetric::fuzz

int main() {
    using namespace groundmetric::fuzz;
    require(signal_of(false) == 0, "the right order of calls");
    require(signal_of(true) == SIGABRT, "a triangle added between");
    std::printf("misuse: caught\n");
    return 0;
}
