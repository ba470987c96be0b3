"""Check the input, evaluate, and write the file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from .. import _files, validation
from ..experiments.splits import split_data
from ..learning import GroundMetricLearning
from ._contents import contents
from ._evaluation import Evaluation, evaluate
from ._lesson import with_stability
from ._origins import Origin, Origins
from ._page import Extras, page

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

# Names, and (channels, rows, columns) of the grid if there is one.
Features: TypeAlias = "tuple[list[str], tuple[int, int, int] | None]"


USUAL = {"learners": None, "n_train": None, "n_folds": 5, "n_repeats": 2}


def write_report(
    path: _files.StrPath,
    *,
    X: ArrayLike,
    y: ArrayLike,
    learner: Any = None,
    X_test: ArrayLike | None = None,
    y_test: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    groups_test: ArrayLike | None = None,
    feature_names: object = None,
    feature_shape: tuple[int, ...] | None = None,
    n_neighbors: int = 3,
    n_train: int | None = None,
    n_folds: int = 5,
    n_repeats: int = 2,
    learners: Iterable[str] | None = None,
    title: str = "Ground metric learning",
    n_jobs: int | None = None,
    random_state: int = 0,
) -> Path:
    """Write a report on a learned metric as one self-contained HTML file.

    Parameters
    ----------
    path : path-like
        The file to write; an existing file is overwritten.
    X : array-like or sparse matrix of shape (n, d)
        Histograms or counts, in rows; rows are normalized to mass 1. They are the
        training set, where neighbors are searched.
    y : array-like of shape (n,)
        Their labels.
    learner : learner of a metric, optional
        Such as :class:`~groundmetric.MappedMetricLearning`, fitted to X and y or not;
        by default a :class:`~groundmetric.GroundMetricLearning`. If it is not fitted,
        the report fits a copy.
    X_test, y_test : array-like, optional
        Histograms that the learner has not seen, and their labels. By default, X is
        split as in :func:`~groundmetric.experiments.cross_validate`, and copies of the
        learner are fitted, even if the learner is fitted, since it has seen all of X.
    groups, groups_test : array-like of shape (n,), optional
        Group of each histogram of X, and of X_test, such as a patient; see
        :func:`~groundmetric.experiments.cross_validate`.
    feature_names : list of str, optional
        Names of the features; by default the columns of X if it is a data frame, or of
        the frame that the learner was fitted on.
    feature_shape : (rows, columns) or (channels, rows, columns), optional
        Shape of the grid if features are on one, as pixels are, with columns varying
        fastest. They are then drawn as an image.
    n_neighbors : int, default=3
        Number of neighbors that vote, in the verdict and the confusion matrix; the
        curves show all numbers up to 20.
    n_train, n_folds, n_repeats : int, default=None, 5 and 2
        How to split X if there are no test histograms; see
        :func:`~groundmetric.experiments.cross_validate`. The verdict is about all
        splits, the rest of the report about the first.
    learners : iterable of str, optional
        Other learners to compare with, in
        :data:`~groundmetric.experiments.LEARNERS` and
        :data:`~groundmetric.experiments.PREDICTORS`; by default all that are installed,
        but ITML for up to five classes only.
    title : str
        Heading of the report.
    n_jobs : int, optional
        Number of threads for the neighbor search.
    random_state : int, default=0
        Seed for drawing splits.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from groundmetric.report import write_report
    >>> X = [[4, 1, 1, 0], [3, 2, 1, 0], [0, 1, 1, 4], [0, 1, 2, 3]]
    >>> y = ["left", "left", "right", "right"]
    >>> with TemporaryDirectory() as folder:
    ...     file = write_report(
    ...         Path(folder) / "report.html", X=X, y=y, X_test=X, y_test=y
    ...     )
    ...     "no significant difference" in file.read_text(encoding="utf-8")
    True
    """
    target = Path(path)
    if target.is_dir() or not target.parent.is_dir():
        what = (
            "is a folder" if target.is_dir() else "is in a folder that does not exist"
        )
        raise ValueError(f"path is {target}, which {what}; a file is needed.")
    learner = GroundMetricLearning() if learner is None else learner
    if isinstance(learner, type) or not validation.is_learner(learner):
        raise ValueError(
            f"learner is {learner!r}; a learner of a metric, such as "
            "GroundMetricLearning, is needed."
        )
    given = getattr(X, "columns", None) if feature_names is None else feature_names
    if given is None:
        given = getattr(learner, "feature_names_in_", None)
    drawing = {"n_train": n_train, "n_folds": n_folds, "n_repeats": n_repeats}
    apart: Any = {"groups": groups, "groups_test": groups_test}
    data = split_data(X, y, X_test, y_test, **apart, **drawing, seed=random_state)
    features = as_features(given, feature_shape, data.rows.shape[1])
    options = {"learners": learners, **drawing} if data.was_split else {}
    found = evaluate(
        learner, data, n_neighbors=n_neighbors, learners=learners, n_jobs=n_jobs
    )
    found = with_stability(found, seed=random_state, n_jobs=n_jobs)
    tested = Origin.of(X, "X") if X_test is None else Origin.of(X_test, "X_test")
    extras = Extras(
        title,
        random_state,
        sentences=[found.skipped, found.lesson(features[0])],
        options={name: x for name, x in options.items() if x != USUAL[name]},
    )
    write_evaluation(
        target, found, features, extras, Origins(Origin.of(X, "X"), tested)
    )
    return target


def as_features(names: object, shape: tuple[int, ...] | None, d: int) -> Features:
    """Check the names of d features, and their grid if there is one."""
    called = validation.as_names(names, d)
    if shape is None:
        return called, None
    grid = validation.as_grid(shape, d)
    return _places(grid) if names is None else called, grid


def write_evaluation(
    target: Path,
    found: Evaluation,
    features: Features,
    extras: Extras,
    origins: Origins | None = None,
) -> None:
    """Write the report on an evaluation."""
    drawn = contents(found, *features, origins)
    _files.write_text(target, page(found, drawn, extras))


def _places(grid: tuple[int, int, int]) -> list[str]:
    """Name features by their grid positions."""
    channels, rows, columns = grid
    return [
        f"{f'channel {c}, ' if channels > 1 else ''}row {i}, column {j}"
        for c in range(channels)
        for i in range(rows)
        for j in range(columns)
    ]
