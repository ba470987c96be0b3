"""The last lines of ``evaluate``: the command that fits the winner."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from ..experiments.names import GIVEN, in_a_sentence, learns
from ..experiments.winner import AUTO, winner
from ._learners import FITTED_AS, TAKES
from ._options import as_option

if TYPE_CHECKING:
    from pathlib import Path

    from ..experiments.verdict import Verdict
    from ._learners import Known
    from ._options import Source

WITH_FILES = (AUTO, "combined", "discriminant")  # what was measured with them
ROOTS = 'Normalizer("l1"), FunctionTransformer(np.sqrt)'
# In scikit-learn: predictors, and distances that learn nothing.
IN_SCIKIT_LEARN = {
    "logistic": (
        f"GridSearchCV(make_pipeline({ROOTS}, LogisticRegression(max_iter=300)), "
        '{"logisticregression__C": [1, 10, 100, 1000]})'
    ),
    "linear-svm": (
        f"GridSearchCV(make_pipeline({ROOTS}, LinearSVC()), "
        '{"linearsvc__C": [0.1, 1, 10, 100]})'
    ),
    "l1": 'make_pipeline(Normalizer("l1"), KNeighborsClassifier(%d, metric="l1"))',
    "l2": 'make_pipeline(Normalizer("l1"), KNeighborsClassifier(%d))',
    "hellinger": f"make_pipeline({ROOTS}, KNeighborsClassifier(%d))",
    "chi2": (
        'KNeighborsClassifier(%d, metric="precomputed") on '
        "groundmetric.distances.chi2(new, X)"
    ),
    "tfidf-l1": (
        'make_pipeline(Normalizer("l1"), TfidfTransformer(norm=None), '
        'KNeighborsClassifier(%d, metric="l1"))'
    ),
}


@dataclass(frozen=True)
class Asked:
    """What was evaluated: DATA, what is known of bins, other options, or a model."""

    source: Source
    known: Known
    rest: str = ""
    model: Path | None = None


def next_steps(verdict: Verdict, asked: Asked) -> dict[str, str]:
    """Name the winner and the command that fits it; empty if nothing was measured."""
    name = winner([*verdict.found.values()])
    found = {} if name is None else {"winner": name}
    if name is not None:
        found["next"] = _sentence(name, verdict.n_neighbors, asked)
    predictor = _predictor(verdict)
    if predictor:
        code = IN_SCIKIT_LEARN[predictor]
        found["predictor"] = predictor
        found["next_for_labels"] = (
            f"For labels only, {in_a_sentence(predictor)} in scikit-learn: {code}"
        )
    return found


def _predictor(verdict: Verdict) -> str | None:
    """Name the predictor that the verdict recommends, if it does."""
    said = verdict.labels_only()
    named = (x for x in verdict.predictions if f"use {in_a_sentence(x)}:" in said)
    return next(named, None)


def _sentence(name: str, n_neighbors: int, asked: Asked) -> str:
    source, known, model = asked.source, asked.known, asked.model
    data = shlex.quote(source.path)
    if name.startswith(GIVEN):
        path = name.removeprefix(GIVEN)
        if path in known.metrics:
            line = f"groundmetric distances {data} --metric {shlex.quote(path)}"
            return f"Its distances, without learning: {line}"
        return (
            "Its distances, without learning, in Python: groundmetric.pairwise_emd(X, "
            'metric="euclidean", points=points)'
        )
    if not learns(name):
        code = IN_SCIKIT_LEARN[name] % n_neighbors
        return f"Nothing to learn: {in_a_sentence(name)} in scikit-learn: {code}"
    if name == "learned" and model is not None:
        return f"To use it: groundmetric predict NEW --model {shlex.quote(str(model))}"
    if source.path == "-":
        data = "DATA"
    learner = FITTED_AS[name]
    line = f"groundmetric fit {data}{options_of(source)}{asked.rest}"
    if name != "learned" or known.vectors is None:  # which are learned from by default
        line += f" --learner {learner}"
    line += known.taken_by(TAKES[learner] if name in WITH_FILES else set())
    if name != AUTO:
        return f"To fit it: {line}"
    return f"No learner is significantly better than AutoMetric. To fit it: {line}"


def options_of(source: Source) -> str:
    """Write the options that say how to read DATA, if there are any."""
    words = [
        as_option(one.name, getattr(source, one.name))
        for one in fields(source)[1:]
        if one.name != "jobs" and getattr(source, one.name) != one.default
    ]
    return "".join(f" {word}" for word in words)
