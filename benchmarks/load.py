"""Many pairs and many fits in one process: memory, threads and files stay the same.

``make load``: ten million distances into a file, and 500 fits. Memory after a tenth of
the work is compared with memory at the end; threads and open files with those before.
Pages of the file of distances, which the system keeps and drops as it likes, do not
count as memory.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import groundmetric as gm
from groundmetric.transport import _outputs

N_BINS = 16
EARLY = 0.1  # share of the work
GROWTH = 8.0  # MB between a tenth of the work and its end that count as flat


@dataclass(frozen=True)
class Use:
    """Memory, threads and files that a process holds."""

    megabytes: float  # without pages of files
    n_threads: int
    n_files: int

    @classmethod
    def now(cls) -> Use:
        """Measure this process."""
        gc.collect()
        status = Path("/proc/self/status").read_text(encoding="utf-8")
        (private,) = (
            line.split()[1] for line in status.splitlines() if "RssAnon" in line
        )
        count = [len(os.listdir(f"/proc/self/{kind}")) for kind in ("task", "fd")]  # noqa: PTH208
        return cls(int(private) / 1000, *count)


class Watch:
    """Use before the work, after a tenth of it, and at its end."""

    def __init__(self) -> None:
        self.before = self.early = self.after = Use.now()
        self._is_early = True

    def __call__(self, share: float) -> None:
        """Take note of the share of the work that is done."""
        if self._is_early and share >= EARLY:
            self.early, self._is_early = Use.now(), False
        if share == 1.0:
            self.after = Use.now()

    def problems(self) -> list[str]:
        """Say what grew."""
        found = []
        growth = self.after.megabytes - self.early.megabytes
        if self._is_early or growth > GROWTH:
            found.append(f"memory grew by {growth:.1f} MB")
        for kind in ("n_threads", "n_files"):
            before, after = getattr(self.before, kind), getattr(self.after, kind)
            if after > before:
                found.append(f"{kind} grew from {before} to {after}")
        return found


def histograms(n: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Draw histograms; the even ones have more mass in the first bins."""
    X = np.random.default_rng(0).gamma(0.5, size=(n, N_BINS))
    X[::2, : N_BINS // 2] *= 2
    return X / X.sum(axis=1, keepdims=True)


def pairs(n: int, folder: Path) -> Watch:
    """Compute all distances between n and n histograms, into a file."""
    X = histograms(2 * n)
    metric = np.abs(np.subtract.outer(np.arange(N_BINS), np.arange(N_BINS)))
    finish = _outputs.FileOutput.finish
    watch = Watch()

    def watched(output: _outputs.FileOutput, block: int, checksum: int) -> None:
        finish(output, block, checksum)
        share = float((output.sums != 0).mean())
        if share < 1.0:
            watch(share)

    with patch.object(_outputs.FileOutput, "finish", watched):
        gm.pairwise_emd(X[:n], X[n:], metric=metric, out=folder / "out.npy", n_jobs=2)
    watch(1.0)
    return watch


def fits(n: int, folder: Path) -> Watch:
    """Fit n models on threads, with checkpoints, and save each."""
    X, y = histograms(40), np.arange(40) % 2
    learner = gm.GroundMetricLearning(
        n_jobs=2, max_steps=8, callbacks=[gm.Checkpoint(folder / "state", seconds=0)]
    )
    learner.fit(X, y)  # imports what it needs
    watch = Watch()
    for k in range(n):
        learner.fit(X, y).save(folder / "model.npz")
        watch((k + 1) / n)
    return watch


def main(n_histograms: int, n_fits: int) -> int:
    """Do both, print a line for each, and return the number of problems."""
    n_problems = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for label, work, n in (
            (f"{n_histograms**2:,} pairs", pairs, n_histograms),
            (f"{n_fits:,} fits", fits, n_fits),
        ):
            watch = work(n, folder)
            print(
                f"{label}: {watch.early.megabytes:.1f} MB after a tenth, "
                f"{watch.after.megabytes:.1f} MB at the end; threads "
                f"{watch.before.n_threads} -> {watch.after.n_threads}, files "
                f"{watch.before.n_files} -> {watch.after.n_files}",
                *watch.problems(),
                sep="; ",
            )
            n_problems += len(watch.problems())
    return n_problems


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histograms", type=int, default=3163)
    parser.add_argument("--fits", type=int, default=500)
    given = parser.parse_args()
    sys.exit(main(given.histograms, given.fits) > 0)
