"""Work on the machines of a Dask cluster; the only module that knows Dask.

What all calls share travels as a task, not as scattered data: if the worker that holds
it is lost, the scheduler makes it again elsewhere, and so it does with the calls.
"""

from __future__ import annotations

import uuid
import warnings
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

# Calls that wait for each thread of the workers: enough to keep it busy.
AHEAD = 3


def completed(
    client: Any,  # noqa: ANN401 - judged here
    function: Callable[..., Any],
    shared: object,
    calls: Sequence[tuple[object, ...]],
) -> Iterator[tuple[int, Any]]:
    """Yield the number and the result of ``function(shared, *call)``, in any order.

    Results do not pile up: few calls are under way at a time.
    """
    require_client(client)
    from distributed import as_completed  # noqa: PLC0415 - an optional dependency

    name = f"groundmetric-{uuid.uuid4().hex}"
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")
        held = client.submit(_same, shared, key=name, pure=False)
    left = enumerate(calls)
    numbers: dict[Any, int] = {}

    def submit(n_calls: int) -> list[Any]:
        some = {
            client.submit(function, held, *call, key=f"{name}-{k}", pure=False): k
            for k, call in islice(left, n_calls)
        }
        numbers.update(some)
        return list(some)

    n_threads = sum(client.nthreads().values())
    try:
        waiting = as_completed(submit(AHEAD * max(n_threads, 1)), with_results=True)
        for future, result in waiting:
            k = numbers.pop(future)
            future.release()
            waiting.update(submit(1))
            yield k, result
    finally:
        if numbers:  # stopped before the end
            client.cancel(list(numbers))


def require_client(client: Any) -> None:  # noqa: ANN401 - judged here
    """Reject what is not a client of Dask."""
    if type(client).__module__.split(".")[0] != "distributed":
        raise ValueError(
            f"client is {client!r}; a dask.distributed.Client is needed (pip install "
            "'groundmetric[distributed]')."
        )


def _same(shared: object) -> object:
    return shared


def is_lazy(X: object) -> bool:
    """Whether X is a Dask array; does not import Dask."""
    return type(X).__module__.split(".")[0] == "dask"


def lazily(
    function: Callable[..., NDArray[np.float64]],
    X: Any,  # noqa: ANN401 - a Dask array
    Y: Any,  # noqa: ANN401 - a Dask array, or None
    shared: object,
) -> Any:  # noqa: ANN401 - a Dask array
    """Make a Dask array of ``function(x, y, shared)`` for all blocks of rows.

    If Y is None, blocks below the diagonal are those above, transposed.
    """
    import dask  # noqa: PLC0415 - an optional dependency
    import dask.array as da  # noqa: PLC0415

    held = dask.delayed(shared)

    def block(x: Any, y: Any) -> Any:  # noqa: ANN401
        shape = (x.shape[0], y.shape[0])
        one = dask.delayed(function)(x, None if y is x else y, held)
        return da.from_delayed(one, shape, meta=np.empty((0, 0)))

    rows = _blocks_of_rows(X)
    if Y is not None:
        columns = _blocks_of_rows(Y)
        return da.block([[block(x, y) for y in columns] for x in rows])
    n = len(rows)
    above = {(i, j): block(rows[i], rows[j]) for i in range(n) for j in range(i, n)}
    return da.block(
        [[above[i, j] if i <= j else above[j, i].T for j in range(n)] for i in range(n)]
    )


def _blocks_of_rows(X: Any) -> list[Any]:  # noqa: ANN401 - a Dask array
    """Split a Dask array into blocks of whole rows."""
    whole = X.rechunk({1: -1})
    ends = np.cumsum(whole.chunks[0])
    return [
        whole[end - size : end] for end, size in zip(ends, whole.chunks[0], strict=True)
    ]
