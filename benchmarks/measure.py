"""How the benchmarks measure, and how they print."""

import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from groundmetric import _core

PACKAGES = (
    "groundmetric",
    "numpy",
    "scipy",
    "scikit-learn",
    "POT",
    "pyemd",
    "ortools",
)


@dataclass(frozen=True)
class Row:
    """A line of the table: a ratio (larger is better for us) and its bar."""

    what: str
    ours: str
    peer: str
    ratio: float
    bar: float
    note: str = ""


def seconds(task: Callable[[], object]) -> float:
    """Wall time of one call."""
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def side_by_side(
    ours: Callable[[], float], peer: Callable[[], float], rounds: int = 5
) -> tuple[float, float, float]:
    """Measure both in turn, and return the medians and the median of the ratios.

    Both return seconds. On a noisy machine, only numbers of the same round can be
    compared.
    """
    measured = [(ours(), peer()) for _ in range(rounds)]
    return (
        statistics.median(a for a, _ in measured),
        statistics.median(b for _, b in measured),
        statistics.median(b / a for a, b in measured),
    )


def microseconds(duration: float) -> str:
    """Format a duration."""
    return f"{duration * 1e6:,.1f} us"


def machine() -> list[str]:
    """Say where and with what the figures were measured."""
    cpu = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        cpu = next(line.split(":")[1].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        pass
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return [
        f"{platform.system()}, {cpu}, {os.cpu_count()} processors",
        f"Python {platform.python_version()}, {packages}",
        f"Vector instructions in use: {_core.instruction_set()}",
    ]


# The head of the table, in Markdown.
HEADER = "| what | groundmetric | peer | ratio | bar | |\n|---|---:|---:|---:|---:|---|"


def line_of(  # noqa: PLR0917
    what: str, ours: str, peer: str, ratio: float, bar: float, note: str
) -> str:
    """Make a line of the table."""
    mark = "" if ratio >= bar else "**below** "
    return f"| {what} | {ours} | {peer} | {ratio:.1f}x | {bar:g}x | {mark}{note} |"
