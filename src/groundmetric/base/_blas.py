"""Products of matrices whose result does not depend on the number of threads.

BLAS divides a product among its threads, and sums are then rounded in another way. Here
each thread multiplies blocks of rows that are always the same, with one thread of BLAS.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

if TYPE_CHECKING:
    from collections.abc import Iterator

Floats = NDArray[np.float64]

ROWS = 64  # of a block


class _OneThread:
    """Limit products of numpy to one thread while any call needs that.

    The pools belong to the whole process. If each call restored what it had found, the
    last one to end would leave the limit of another behind.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._n_calls = 0
        self._limited: Any = None  # restores what the first call found

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            if self._n_calls == 0:
                self._limited = _thread_pools().limit(limits=1, user_api="blas")
            self._n_calls += 1
        try:
            yield
        finally:
            with self._lock:
                self._n_calls -= 1
                if self._n_calls == 0:
                    self._limited.restore_original_limits()


# More threads only slow small products down.
one_blas_thread = _OneThread()


@cache
def _thread_pools() -> ThreadpoolController:
    """Look for the pools once, which takes a millisecond."""
    return ThreadpoolController()


def product(left: Floats, right: Floats, n_threads: int = 1) -> Floats:
    """Multiply two matrices, in blocks of rows."""
    out = np.empty((len(left), right.shape[1]), np.result_type(left, right))

    def multiply(first: int) -> None:
        some = slice(first, first + ROWS)
        np.matmul(left[some], right, out=out[some])

    blocks = range(0, len(left), ROWS)
    with one_blas_thread():
        if n_threads == 1:
            for first in blocks:
                multiply(first)
        else:
            with ThreadPoolExecutor(n_threads) as pool:
                list(pool.map(multiply, blocks))
    return out
