"""Work on the machines of a Dask cluster; the only module that knows Dask.

Data that all calls share are sent as a task, not scattered: if the worker that holds
them is lost, the scheduler runs the task again elsewhere, as it does with the calls.
They are pickled into bytes, because Dask puts arrays anywhere in a message, and the
compiled core needs them aligned.
"""

from __future__ import annotations

import pickle
import uuid
import warnings
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

# Calls given to each thread of the workers at a time: while one runs, the next waits.
AHEAD = 2
# Results of shards that are fetched at a time; the others wait on their workers.
FETCHED = 8


def completed(
    client: Any,
    function: Callable[..., Any],
    shared: object,
    calls: Sequence[tuple[object, ...]],
) -> Iterator[tuple[int, Any]]:
    """Yield the number and the result of ``function(shared, *call)``, in any order.

    Results do not pile up, since few calls are under way at a time. Each goes to the
    worker that has least to do; otherwise, the scheduler would start them all where the
    shared data are, and move them only once it knows how long they take.
    """
    require_client(client)
    from distributed import as_completed

    name = f"groundmetric-{uuid.uuid4().hex}"
    held = _sent(client, shared, name)
    left = enumerate(calls)
    under_way: dict[Any, tuple[int, str]] = {}  # number and worker

    def submit(n_calls: int) -> list[Any]:
        n_threads = client.nthreads()
        n_given = Counter(home for _, home in under_way.values())
        some = {}
        for k, call in islice(left, n_calls):
            home = min(n_threads, key=lambda w: n_given[w] / n_threads[w], default="")
            n_given[home] += 1
            key = f"{name}-{k}"
            future = client.submit(
                _answered, function, held, _Packed(call), key=key, **_at(home)
            )
            some[future] = k, home
        under_way.update(some)
        return list(some)

    n_threads = sum(client.nthreads().values())
    try:
        waiting = as_completed(submit(AHEAD * max(n_threads, 1)), with_results=True)
        for future, result in waiting:
            k, _ = under_way.pop(future)
            future.release()
            waiting.update(submit(1))
            yield k, result
    finally:
        if under_way:  # stopped before the end
            client.cancel(list(under_way))


class Shards:
    """Objects on the workers of a cluster that keep what they have computed.

    An object is made when it is first called, from what all of them share and from its
    own part. If its worker is lost, the next call makes it again elsewhere: what it has
    kept may save time, but must not change results.

    Parameters
    ----------
    client : dask.distributed.Client
        The cluster.
    make : callable
        Makes an object, ``make(shared, part)``, on a worker.
    shared, parts
        Its arguments.
    """

    def __init__(
        self,
        client: Any,
        make: Callable[..., Any],
        shared: object,
        parts: Sequence[object],
    ) -> None:
        require_client(client)
        self._client, self._make, self._parts = client, make, parts
        self._name = f"groundmetric-{uuid.uuid4().hex}"
        self._shared = _sent(client, shared, f"{self._name}-shared")
        self._homes: list[str] = [""] * len(parts)
        self._find_homes()
        self._kept = [
            client.submit(_Kept, key=f"{self._name}-kept-{k}", **_at(home))
            for k, home in enumerate(self._homes)
        ]
        self._births: list[str] = []
        self._n_calls = 0

    def call(self, method: str, *arguments: object) -> Iterator[Any]:
        """Call a method of all objects, and yield the results in their order.

        They arrive ``FETCHED`` at a time, and no cluster keeps those that are here.
        """
        self._find_homes()
        self._n_calls += 1
        name = f"{self._name}-{self._n_calls}"
        what = _sent(self._client, (self._make, method, arguments), name)
        calls = [
            self._client.submit(
                _called, self._shared, part, kept, what, key=f"{name}-{k}", **_at(home)
            )
            for k, (part, kept, home) in enumerate(
                zip(self._parts, self._kept, self._homes, strict=True)
            )
        ]
        births: list[str] = []
        try:
            while calls:
                answers = self._client.gather(calls[:FETCHED])
                del calls[:FETCHED]
                for k, (birth, result) in enumerate(answers):
                    answers[k] = None
                    births.append(birth)
                    yield result
        finally:
            if calls:  # stopped before the end
                self._client.cancel(calls)
        self._compare(births)

    def _find_homes(self) -> None:
        """Give each object a worker, if it has none or has lost it."""
        workers = sorted(self._client.nthreads())
        for k, home in enumerate(self._homes if workers else ()):
            if home not in workers:
                self._homes[k] = workers[k % len(workers)]

    def _compare(self, births: list[str]) -> None:
        """Warn if objects are not those of the last call."""
        before, self._births = self._births, births
        n_new = sum(a != b for a, b in zip(before, births, strict=False))
        if n_new > 0:
            warnings.warn(
                f"A worker of the cluster was lost; {n_new} of {len(births)} shards "
                "were rebuilt from the data, which does not change the result.",
                stacklevel=2,
            )


class _Kept:
    """An object that stays on its worker: pickling this leaves it behind."""

    def __init__(self, birth: str = "") -> None:
        self.birth = birth or uuid.uuid4().hex
        self.item: Any = None

    def __reduce__(self) -> tuple[type[_Kept], tuple[str]]:
        return _Kept, (self.birth,)


def _called(
    shared: _Packed, part: object, kept: _Kept, what: _Packed
) -> tuple[str, Any]:
    make, method, arguments = what.item
    if kept.item is None:
        kept.item = make(shared.item, part)
    return kept.birth, getattr(kept.item, method)(*arguments)


class _Packed:
    """Data that are copied, and thereby aligned, when they arrive."""

    def __init__(self, item: Any) -> None:
        self.item = item

    def __reduce__(self) -> tuple[Callable[[bytes], _Packed], tuple[bytes]]:
        from distributed.protocol.pickle import dumps

        # Later protocols leave arrays outside.
        return _unpacked, (dumps(self.item, protocol=4),)


def _unpacked(data: bytes) -> _Packed:
    return _Packed(pickle.loads(data))  # noqa: S301 - of our client


def _answered(function: Callable[..., Any], shared: _Packed, call: _Packed) -> Any:
    return function(shared.item, *call.item)


def _at(home: str) -> dict[str, Any]:
    """Options of a task for this worker, or for another if it is lost."""
    where = {"workers": [home], "allow_other_workers": True} if home else {}
    return {"pure": False, **where}


def _sent(client: Any, shared: object, name: str) -> Any:
    """Send data as a task; see the top of this file."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")
        return client.submit(_same, _Packed(shared), key=name, pure=False)


def is_client(item: object) -> bool:
    """Return whether this is a client of Dask; does not import it."""
    return type(item).__module__.split(".")[0] == "distributed"


def require_client(client: object) -> None:
    """Reject what is not a client of Dask."""
    if not is_client(client):
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
    X: Any,
    Y: Any,
    shared: object,
) -> Any:
    """Make a Dask array of ``function(x, y, shared)`` for all blocks of rows.

    If Y is None, blocks below the diagonal are those above, transposed.
    """
    import dask
    import dask.array as da

    held = dask.delayed(shared)

    def block(x: Any, y: Any) -> Any:
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


def _blocks_of_rows(X: Any) -> list[Any]:
    """Split a Dask array into blocks of whole rows."""
    whole = X.rechunk({1: -1})
    ends = np.cumsum(whole.chunks[0])
    return [
        whole[end - size : end] for end, size in zip(ends, whole.chunks[0], strict=True)
    ]
