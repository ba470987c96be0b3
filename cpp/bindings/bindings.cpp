// Python's view of the core: converts arguments and results, nothing else.
// Values are checked in the validation package before they come here.
#include "bindings/bindings.h"

#include "base/kernels.h"
#include "base/parallel.h"

NB_MODULE(_core, m) {
    m.doc() = "The compiled core of groundmetric; not a public interface.";
    bind_transport(m);
    bind_dense_batch(m);
    bind_cone(m);
    bind_tables(m);
    bind_dense_search(m);
    bind_sparse(m);
    bind_line(m);
    bind_sparse_batch(m);
    m.def(
        "instruction_set", [] { return gm::kernels().name; },
        "The vector instructions in use: baseline, avx2 or avx512.");
    m.def(
        "set_poll_interval",
        [](int milliseconds) {
            const auto before =
                gm::set_poll_interval(std::chrono::milliseconds(milliseconds));
            return static_cast<int>(before.count());
        },
        "milliseconds"_a,
        "Set the time between two checks for Ctrl-C, and return the one "
        "before; with 0, tests count the checks.");
    m.def(
        "n_polls", [] { return n_polls.load(); },
        "How often any call has checked for Ctrl-C.");
}
