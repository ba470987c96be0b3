// Python's view of the core: converts arguments and results, nothing else.
// Values are checked in the validation package before they come here.
#include "bindings/bindings.h"

#include "base/kernels.h"

NB_MODULE(_core, m) {
    m.doc() = "The compiled core of groundmetric; not a public interface.";
    bind_transport(m);
    bind_dense_batch(m);
    bind_cone(m);
    bind_tables(m);
    bind_dense_search(m);
    bind_sparse(m);
    bind_sparse_batch(m);
    m.def(
        "instruction_set", [] { return gm::kernels().name; },
        "The vector instructions in use: baseline, avx2 or avx512.");
}
