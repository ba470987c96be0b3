"""Products of matrices whose result does not depend on the number of threads.

BLAS divides a product among its threads, and sums are then rounded in another way. Here
each thread multiplies blocks of rows that are always the same, with one thread of BLAS.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

Floats = NDArray[np.float64]

ROWS = 64  # of a block


def one_blas_thread() -> AbstractContextManager[object]:
    """Let each product of numpy take one thread; more only slow small ones down."""
    limit: AbstractContextManager[object] = _thread_pools().limit(
        limits=1, user_api="blas"
    )
    return limit


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
