"""All pairs block by block, into an array that may be larger than memory.

A file of finished blocks beside the output lets a killed computation resume: a block
is marked only after its distances are written. Each pair is solved in the
same direction whatever the blocks are, so the result is the same bit for bit.
"""

from __future__ import annotations

import hashlib
import math
import zlib
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import validation
from .._cluster import completed, require_client
from .._progress import progress_bar
from ._outputs import open_output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from .._progress import Report
    from ._pairs import Pairs

    # Takes pairs and blocks, and yields the number of a block and its distances.
    Solver = Callable[
        [Pairs, list["Block"], Report | None], Iterator[tuple[int, "Floats"]]
    ]

Floats = NDArray[np.float64]

# Rows and columns of a block.
BLOCK = 128


class Block(NamedTuple):
    """A rectangle of the matrix of distances."""

    rows: slice
    columns: slice

    @property
    def size(self) -> int:
        """The number of its entries."""
        return math.prod(part.stop - part.start for part in self)


def solve_in_blocks(
    pairs: Pairs,
    solve: Solver,
    *,
    out: object,
    condensed: bool,
    dtype: str | None,
    verbose: int,
) -> Floats:
    """Solve all blocks that are not done yet, and write each when it is."""
    blocks = list(blocks_of(pairs))
    shape = _shape(pairs, condensed=condensed)
    key = b""  # what is in memory cannot be resumed
    if out is not None:
        contents = pairs.contents()
        _require_apart(out, contents)
        key = fingerprint(contents, str(shape), str(BLOCK), str(dtype))
    output = open_output(out, shape, dtype, n_blocks=len(blocks), key=key)
    places = partial(_places, pairs=pairs, condensed=condensed)

    def is_done(k: int) -> bool:
        known = output.sums[k]
        return bool(known) and known == _checksum(output.array, places(blocks[k]))

    left = [k for k in range(len(blocks)) if not is_done(k)]
    todo = [blocks[k] for k in left]
    total = sum(block.size for block in todo)
    with progress_bar(total, label="emd", show=verbose > 0) as report:
        for k, values in solve(pairs, todo, report):
            with np.errstate(over="ignore"):  # checked next
                rounded = values.astype(output.array.dtype, copy=False)
            validation.require_in_range(rounded[np.isfinite(values)])
            for there, part in places(todo[k]):
                output.array[there] = part(rounded)
            output.finish(left[k], _checksum(output.array, places(todo[k])))
    distances: Floats = output.close()
    return distances


def solve_here(threads: int) -> Solver:
    """Make what solves blocks one after the other, each on these threads."""

    def solve(
        pairs: Pairs, blocks: list[Block], report: Report | None
    ) -> Iterator[tuple[int, Floats]]:
        n_before = 0
        for k, block in enumerate(blocks):
            own = None if report is None else _shifted(report, n_before)
            yield k, pairs.solve(*block, threads, own)
            n_before += block.size

    return solve


def solve_there(client: object, threads: int) -> Solver:
    """Make what solves blocks on the workers of a Dask cluster."""
    require_client(client)

    def solve(
        pairs: Pairs, blocks: list[Block], report: Report | None
    ) -> Iterator[tuple[int, Floats]]:
        n_done = 0
        calls = [(*block, threads) for block in blocks]
        for k, values in completed(client, _solved, pairs, calls):
            yield k, values
            n_done += blocks[k].size
            if report is not None:
                report(n_done)

    return solve


def _solved(pairs: Pairs, rows: slice, columns: slice, threads: int) -> Floats:
    return pairs.solve(rows, columns, threads, None)


def _shifted(report: Report, n_before: int) -> Report:
    def shifted(n_done: int, /, **shown: float) -> None:
        report(n_before + n_done, **shown)

    return shifted


def blocks_of(pairs: Pairs) -> Iterator[Block]:
    """All blocks, or those on and above the diagonal."""
    n, m = pairs.shape
    for i in range(0, n, BLOCK):
        for j in range(i if pairs.symmetric else 0, m, BLOCK):
            yield Block(slice(i, min(i + BLOCK, n)), slice(j, min(j + BLOCK, m)))


def fingerprint(contents: Iterable[NDArray[Any]], *facts: str) -> bytes:
    """Hash what the distances depend on."""
    digest = hashlib.sha256("|".join(facts).encode())
    for part in contents:
        digest.update(np.ascontiguousarray(part).data)
    return digest.digest()


def _shape(pairs: Pairs, *, condensed: bool) -> tuple[int, ...]:
    n, _ = pairs.shape
    if not condensed:
        return pairs.shape
    if not pairs.symmetric:
        raise ValueError(
            "condensed is True, but distances are symmetric only if Y is None and the "
            "metric is symmetric."
        )
    return (n * (n - 1) // 2,)


def _places(
    block: Block, pairs: Pairs, *, condensed: bool
) -> Iterator[tuple[Any, Callable[[Floats], Floats]]]:
    """Say where the entries of a block go, and how to get them from the block."""
    rows, columns = block
    if not condensed:
        yield (rows, columns), np.asarray
        if pairs.symmetric and rows != columns:
            yield (columns, rows), np.transpose
        return
    n, _ = pairs.shape
    for i in range(rows.start, rows.stop):
        first = max(columns.start, i + 1)
        if first < columns.stop:
            at = n * i - i * (i + 1) // 2 + first - i - 1  # as in scipy's pdist
            part = (i - rows.start, slice(first - columns.start, None))
            yield slice(at, at + columns.stop - first), itemgetter(part)


def _checksum(array: Any, places: Iterable[tuple[Any, object]]) -> int:
    """Sum up what an array has at these places; not to zero."""
    found = 0
    for there, _ in places:
        found = zlib.crc32(np.ascontiguousarray(array[there]).data, found)
    return found or 1


def _require_apart(out: object, contents: Iterable[NDArray[Any]]) -> None:
    """Reject outputs that share memory with the inputs."""
    if isinstance(out, np.ndarray) and any(
        np.may_share_memory(out, part) for part in contents
    ):
        raise ValueError("out shares memory with the inputs; it must not.")
