"""What to read, how messages name its parameters, and notes taken on the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import validation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

MOST = 6  # names in a message
TRANSPOSE = ("transpose", True)  # as a message spells it


def as_argument(name: str, *values: Any) -> str:
    """Spell a parameter of ``read_table``, or an argument: ``ignore=['id']``."""
    return "".join([name, *(f"={value!r}" for value in values)])


class Bins(NamedTuple):
    """The bins of a metric, in this order."""

    number: int
    names: Sequence[str] = ()
    of: str = "the model was learned from"  # columns of these names


@dataclass(frozen=True)
class Reading:
    """How to read a file, and notes taken on the way.

    Attributes
    ----------
    path, label, labels, id, groups, ignore, keep, header, transpose, missing, vectors
        As in :func:`groundmetric.datasets.read_table`; all columns by name.
    labeled, feature, n_jobs, verbose, empty
        Likewise.
    bins : Bins, optional
        The bins that are wanted.
    spell : callable
        Writes a parameter, or one with a value, in the language of the caller.
    is_second : bool
        Whether label and id are the columns of another file, which may be missing here.
    notes, warnings : list of str
        How columns were read, and what is probably a mistake.
    """

    path: str
    label: str | None = None
    labels: Path | None = None
    id: str | None = None
    groups: str | None = None
    ignore: Sequence[str] = ()
    keep: Sequence[str] = ()
    header: bool | None = None
    transpose: bool = False
    missing: str = "error"
    vectors: Path | None = None
    labeled: bool | None = True
    feature: str = "gist"
    n_jobs: int | None = None
    verbose: int = 0
    empty: str = "error"
    bins: Bins | None = None
    spell: Callable[..., str] = as_argument
    is_second: bool = False
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def listed(names: Sequence[str]) -> str:
    """List names, shortened if there are many."""
    shown = [repr(name) for name in names]
    if len(shown) > MOST:
        shown = [*shown[: MOST - 2], "...", shown[-1]]
    return ", ".join(shown)


def of_mass_1(X: Any, table: validation.Table, reading: Reading) -> Any:
    """Scale rows to mass 1; empty ones are rejected, uniform, or stay zero."""
    validation.as_empty_rule(reading.empty)
    is_sparse = hasattr(X, "toarray")
    scaled: Any = validation.as_distributions
    if is_sparse:
        X, scaled = X.tocsr(), validation.as_sparse_distributions
    else:
        X = validation.as_nonnegative(X, table)
    empty = validation.are_empty(abs(X))  # signs of sparse entries are checked later
    if reading.empty == "error":
        ways = f"{reading.spell('empty', 'uniform')} or nan"
        validation.refuse_empty(empty, table, ways)
    X = scaled(validation.with_uniform(X, empty), table)
    if reading.empty == "nan" and empty.any():
        X[empty] = 0.0
        if is_sparse:
            X.eliminate_zeros()
    return X
