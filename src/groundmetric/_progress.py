"""A progress bar around a long call into the core."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator


class Report(Protocol):
    """Takes the number of items done, and values to show beside the bar."""

    def __call__(self, n_done: int, /, **shown: float) -> None: ...


@contextmanager
def progress_bar(
    total: int | None,
    *,
    label: str,
    show: bool,
    unit: str = "pair",
    steps: bool = False,
) -> Iterator[Report | None]:
    """Yield a function to call with the number of items done, or None if not shown.

    ``steps`` are reported one by one; they may begin late, when a fit resumes, and end
    early.
    """
    if not show:
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError as error:
        raise ImportError(
            "A progress bar needs tqdm: pip install 'groundmetric[progress]'."
        ) from error
    with tqdm(total=total, desc=label, unit=unit, smoothing=0.1) as bar:

        def report(n_done: int, /, **shown: float) -> None:
            if steps and bar.n == 0:
                bar.initial = bar.n = n_done - 1  # keep resumed steps out of the speed
            bar.set_postfix_str(
                ", ".join(f"{name} {value:.2e}" for name, value in shown.items()),
                refresh=False,
            )
            bar.update(n_done - bar.n)

        yield report
        if steps:
            bar.total = bar.n
        elif total is not None:
            bar.update(total - bar.n)
