"""A progress bar around a long call into the core."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Report = Callable[[int], None]


@contextmanager
def progress_bar(
    total: int | None, *, label: str, show: bool, unit: str = "pair"
) -> Iterator[Report | None]:
    """Yield what the core calls with the number of items done; None for silence."""
    if not show:
        yield None
        return
    try:
        from tqdm.auto import tqdm  # noqa: PLC0415 - an optional dependency
    except ImportError as error:
        raise ImportError(
            "progress=True needs tqdm: pip install 'groundmetric[progress]'."
        ) from error
    with tqdm(total=total, desc=label, unit=unit, smoothing=0.1) as bar:

        def report(n_done: int) -> None:
            bar.update(n_done - bar.n)

        yield report
        if total is not None:
            bar.update(total - bar.n)
