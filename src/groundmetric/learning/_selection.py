r"""Which candidate, and how many steps of it, by scores on held-out histograms.

With the scores s of candidate c after t steps on fold f, and the best mean at (c*, t*),

.. math:: \Delta_f = s_{c^* t^* f} - s_{c t f}, \qquad
          \bar\Delta \le \frac{\mathrm{std}(\Delta)}{\sqrt{F - 1}}

says that (c, t) is within one standard error of the best: that of their difference on
the same folds, since folds differ more from each other than candidates do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._candidates import Candidate, Key
    from ._folds import Folds

Floats = NDArray[np.float64]
Steps = list[list[float]]  # scores after 0, 1, ... steps, on each fold

# What a fitted learner has, and ``MetricLearningCV`` takes from the best one.
LEARNED = (
    *("metric_", "initial_metric_", "path_", "n_iter_", "converged_", "power_"),
    *("embedding_", "initial_embedding_", "components_", "smoothing_", "classes_"),
    "weights_",
    *("sample_indices_", "_labels", "_histograms", "_learned", "_n_features_out"),
    *("bin_weights_", "initial_bin_weights_", "embed"),
    *("_distances_to", "_seen_before", "_has_closed_form"),
)


def within_one_error(scores: Floats, n_errors: float = 1.0) -> NDArray[np.bool_]:
    """Tell which are within one standard error of the best, or this many; NaN is not.

    Folds are along the last axis.
    """
    means = scores.mean(axis=-1)
    best = np.unravel_index(np.nanargmax(means), means.shape)
    lead = scores[best] - scores
    error = lead.std(axis=-1) / np.sqrt(max(scores.shape[-1] - 1, 1))
    within: NDArray[np.bool_] = lead.mean(axis=-1) <= n_errors * error
    return within


def nearest_to_given(scores: Floats, pulls: Sequence[float]) -> tuple[int, int]:
    """Choose a candidate and its number of steps.

    Scores are (candidates, splits, steps). Of those within one standard error of the
    best, it is what is nearest to what was given: the fewest steps, of these the
    strongest pull, and of these the first candidate.
    """
    which, steps = np.nonzero(within_one_error(scores.transpose(0, 2, 1)))
    order = np.lexsort((which, -np.asarray(pulls)[which], steps))
    return int(which[order[0]]), int(steps[order[0]])


def best_with_fewest_steps(scores: Floats) -> tuple[int, int]:
    """Choose the best candidate, and the fewest steps of it within one standard error.

    Where nothing was given, no candidate is nearer to it than another.
    """
    best = int(np.nanargmax(np.nanmax(scores.mean(axis=1), axis=1)))
    steps = np.flatnonzero(within_one_error(scores[best].T))
    return best, int(steps[0])


def choice_of(scores: Floats, pulls: Sequence[float] | None) -> tuple[int, int]:
    """Choose a candidate and its steps; pulls are None if nothing was given."""
    if pulls is None:
        return best_with_fewest_steps(scores)
    return nearest_to_given(scores, pulls)


def all_scores(
    folds: Folds, candidates: Sequence[Candidate], most_starts: int | None = None
) -> list[Steps]:
    """Score all candidates; those that start at the same distance share its score.

    With ``most_starts``, only those take steps that start at one of so few distances,
    the best before learning, of each learner.
    """
    first: dict[Key, list[float]] = {}
    if most_starts is not None:
        for candidate in candidates:
            if candidate.start not in first:
                start = candidate._replace(learns=False)
                first[candidate.start] = folds.scores(start)[0]
        candidates = _promising(candidates, first, most_starts)
    found = []
    for candidate in candidates:
        scores = folds.scores(candidate, first.get(candidate.start))
        first.setdefault(candidate.start, scores[0])
        found.append(scores)
    return found


def _promising(
    candidates: Sequence[Candidate], first: dict[Key, list[float]], most: int
) -> list[Candidate]:
    """Let only candidates with the best starts of their learner take steps.

    Where the only step has a closed form, all do.
    """
    best: set[Key] = set()
    for learner in {id(each.learner) for each in candidates}:
        own = [each for each in candidates if id(each.learner) == learner]
        starts = dict.fromkeys(each.start for each in own)
        ranked = sorted(starts, key=lambda start: -np.mean(first[start]))
        best |= set(ranked if own[0].learner._has_closed_form else ranked[:most])
    return [
        each._replace(learns=each.learns and each.start in best) for each in candidates
    ]


def as_array(scores: list[Steps]) -> Floats:
    """Make an array of shape (candidates, splits, steps); NaN is not scored."""
    n_steps, n_splits = max(len(steps) for steps in scores), len(scores[0][0])
    nothing = [[np.nan] * n_splits]
    whole = [steps + nothing * (n_steps - len(steps)) for steps in scores]
    return np.array(whole).transpose(0, 2, 1)


def as_results(candidates: Sequence[Candidate], scores: Floats) -> dict[str, Any]:
    """Lay scores (candidates, splits, steps) out as scikit-learn does."""
    means, spread = scores.mean(axis=1), scores.std(axis=1)
    n_splits, n_steps = scores.shape[1:]
    errors = spread / np.sqrt(max(n_splits - 1, 1))
    names = [type(candidate.learner).__name__ for candidate in candidates]
    params = np.array([candidate.params for candidate in candidates], dtype=object)
    return {
        "estimator": np.repeat(names, n_steps),
        "params": np.repeat(params, n_steps),
        "step": np.tile(np.arange(n_steps), len(candidates)),
        "mean_test_score": means.ravel(),
        "std_test_score": spread.ravel(),
        "se_test_score": errors.ravel(),
        **{f"split{k}_test_score": scores[:, k].ravel() for k in range(n_splits)},
    }
