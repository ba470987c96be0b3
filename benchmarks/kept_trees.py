"""Whether trees are worth keeping between the steps of a descent (Algorithm 1).

    python benchmarks/kept_trees.py caltech50_gist.npz

Runs the paper's own schedule, and solves a sample of pairs under the metrics before and
after some of its steps. An arc of the new plan that the old one does not use has to
enter the basis, one pivot each, so the number of new arcs is the least that any simplex
needs from the old tree. Next to it stand the pivots of a fresh start.
"""

import argparse
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
from descent import two_classes

import groundmetric as gm
from groundmetric.learning import _space

STEPS = (1, 2, 5, 10, 20, 50, 100, 150, 200)
N_TASKS = 4
N_PAIRS = 60
FLOW = 1e-12  # of the mass


def metrics_of_a_fit(X: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """Return the metric at the start, and after each step."""
    met: list[np.ndarray] = []
    move = _space.MetricCone.move

    def move_and_note(space: _space.MetricCone, *args: object) -> object:
        if not met:
            met.append(space.metric)
        moved = move(space, *args)
        met.append(space.metric)
        return moved

    with mock.patch.object(_space.MetricCone, "move", move_and_note):
        gm.GroundMetricLearning.paper(n_jobs=1).fit(X, y)
    return met


def plans(X: np.ndarray, pairs: np.ndarray, metric: np.ndarray) -> tuple:
    """Solve pairs from fresh starts: plans, without common mass, and mean pivots."""
    solution = gm.TransportBatch(X, pairs, n_jobs=1).solve(metric)
    sums = [solution.plan_sum(one) for one in np.eye(len(pairs))]
    off_diagonal = ~np.eye(X.shape[1], dtype=bool)
    return np.array(sums) * off_diagonal, solution.n_pivots.mean()


def compare(
    X: np.ndarray, pairs: np.ndarray, before: np.ndarray, M: np.ndarray
) -> list:
    """Return the move, arcs, new arcs, fresh pivots, and the old plans' excess."""
    (old, _), (new, n_pivots) = plans(X, pairs, before), plans(X, pairs, M)
    used, was_used = new > FLOW, old > FLOW
    cost = (new * M).sum(axis=(1, 2))
    excess = ((old * M).sum(axis=(1, 2)) - cost) / cost
    return [
        np.linalg.norm(M - before) / np.linalg.norm(before),
        used.sum(axis=(1, 2)).mean(),
        (used & ~was_used).sum(axis=(1, 2)).mean(),
        n_pivots,
        excess.mean(),
    ]


def main() -> None:
    """Print a table, means over tasks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="an .npz file with arrays X and y")
    with np.load(parser.parse_args().data, allow_pickle=False) as file:
        X, y = file["X"].astype(float), file["y"]
    X /= X.sum(axis=1, keepdims=True)
    rng = np.random.default_rng(0)
    rows: dict[int, list] = {step: [] for step in STEPS}
    for _ in range(N_TASKS):
        some, labels = two_classes(X, y, rng)
        metrics = metrics_of_a_fit(some, labels)
        left, right = (np.flatnonzero(labels == c) for c in np.unique(labels))
        pairs = np.stack([rng.choice(side, N_PAIRS) for side in (left, right)], axis=1)
        for step in STEPS:
            if step < len(metrics):
                both = metrics[step - 1], metrics[step]
                rows[step].append(compare(some, pairs, *both))
    head = "step | metric moves | arcs in use | new arcs | pivots of a fresh start"
    print(f"| {head} | excess of the old plan |\n|" + "---:|" * 6)
    for step, found in rows.items():
        moved, arcs, new, pivots, excess = np.mean(found, axis=0)
        print(
            f"| {step} | {moved:.1%} | {arcs:.0f} | {new:.0f} | {pivots:.0f} "
            f"| {excess:.1%} |"
        )


if __name__ == "__main__":
    warnings.simplefilter("ignore", gm.LongFitWarning)
    main()
