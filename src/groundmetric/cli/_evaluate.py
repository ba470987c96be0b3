"""``groundmetric evaluate``: the learned metric compared with other distances.

Each split learns from its own training histograms. An existing model is tested as it
is, on histograms that it should not have seen.
"""

from pathlib import Path
from typing import Annotated

from typer import Option

from .._words import count
from ..experiments.beside import measure_beside
from ..experiments.splits import split_data
from ..experiments.verdict import Verdict
from ._command import command
from ._console import begin, emit, note, print_table, shows_progress, tell
from ._data import bins_of, read_labeled, warn_if_seen
from ._learners import Known
from ._models import learner_for, load_learner, rivals_for, with_jobs
from ._options import (
    Folds,
    Groups,
    InputFiles,
    Json,
    Limit,
    Neighbors,
    Repeats,
    Seed,
    Source,
    Unshown,
    as_option,
)
from ._rows import more_rows
from ._splitting import LIMIT, split
from ._winner import Asked, next_steps

LEGEND = (
    "Errors: of test histograms; saved: by the learned metric, compared with the "
    "distance in this row, in percentage points, with 95 % intervals; sure: that the "
    "learned metric is better"
)
SECONDS = "; seconds: CPU time to learn, once"  # if any other distance learns


@command(
    "groundmetric evaluate flowers.csv --label species",
    "groundmetric evaluate flowers.csv --repeats 4 --svm --json",
    "groundmetric evaluate new.csv --model flowers.npz",
    "groundmetric evaluate alloys.csv --points elements.csv --metrics a.csv b.csv",
    "groundmetric evaluate samples.csv --groups patient",
)
def evaluate(
    source: Source,
    *,
    model: Annotated[Path | None, Option(metavar="FILE")] = None,
    points: InputFiles = None,
    metrics: InputFiles = None,
    groups: Groups = None,
    folds: Folds = 5,
    repeats: Repeats = 2,
    neighbors: Neighbors = 3,
    learners: Unshown = None,
    tfidf: Unshown = None,
    svm: bool = False,
    limit: Limit = LIMIT,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Find out whether learning helps, and which learner to use.

    Measures the errors of nearest neighbors under the learned metric, under l1, l2,
    Hellinger and chi-squared, and under distances that our smoothed learner, LMNN,
    ITML, NCA and chi-squared LMNN learn, and those of logistic regression and a linear
    SVM, which predict labels without a distance, with 95 % intervals and the CPU time
    that learning takes. AutoMetric, which chooses among our learners, has a row, too.
    Data of many rows are divided into training sets without a common row and one test
    set, other data into folds. The last line is the command that fits the winner.

    Parameters
    ----------
    model
        Test this model, of fit or of Python, as it is, by neighbors within DATA,
        instead of learning.
    points
        Coordinates of the bins, .npy or .csv: adds the learners that use them, and the
        EMD with the distances between them. Several files may follow.
    metrics
        Metrics between the bins, .npy or .csv, likewise.
    learners
        Compare with AutoMetric, our smoothed learner, LMNN, ITML, NCA, chi-squared
        LMNN, logistic regression and a linear SVM, too; by default unless there is a
        model, without ITML if there are more than five classes.
    tfidf
        Compare with the l1 distance of TF-IDF, too; by default if most bins are empty,
        as in counts of words.
    svm
        Also train support vector machines; takes twice as long.
    """
    files = Known.read(points, metrics)
    learner = None if model is None else load_learner(model)
    wanted = None if model is None else bins_of(learner)
    everything = read_labeled(source, wanted, groups)
    if learner is None:
        learner = learner_for(everything, jobs=source.jobs)
    drawing = {"n_folds": folds, "n_repeats": repeats, "seed": seed}
    given, drawing = split(everything, limit, drawing)
    if model is not None:
        with_jobs(learner, source.jobs)
        warn_if_seen(learner._histograms, learner.histograms(given.X))
    if learners is None and model is not None:
        learners = False
    data = split_data(given.X, given.y, groups=given.groups, **drawing)
    files = files.of(given)
    rivals = rivals_for(everything, asked=learners)
    found = measure_beside(
        learner,
        data,
        fitted=model is not None,
        learners=rivals,
        slow=bool(learners),
        tfidf=tfidf,
        others=more_rows(files, data, learners=rivals is None),
        n_neighbors=neighbors,
        svm=svm,
        n_jobs=source.jobs,
        verbose=int(shows_progress()),
        begin=begin,
    )
    if found.skipped:
        note(found.skipped)
    verdict = Verdict(
        {one.method: one for one in found.distances},
        neighbors,
        {one.method: one for one in found.predictions},
    )
    apart = "" if groups is None else f" {as_option('groups', groups)}"
    apart += f" {as_option('cv')}" if groups is not None else ""
    after = (
        next_steps(verdict, Asked(source, files, apart, model)) if rivals != () else {}
    )
    if json:
        facts = {"data": given.source, "n_histograms": len(given)}
        facts |= {"n_folds": folds, "n_repeats": repeats}
        emit(facts | verdict.facts() | after)
        return
    titles = {"knn": count(neighbors, "nearest neighbor")}
    titles |= {"svm": "Support vector machines"} if svm else {}
    for which, title in titles.items():
        print_table(["Distance", *verdict.columns()], verdict.rows(which), title=title)
    legend = LEGEND + (SECONDS if "Seconds" in verdict.columns() else "")
    how = verdict.predicting() + data.design.words
    said = [after[x] for x in ("next_for_labels", "next") if x in after]
    for sentence in [f"{legend}.", how, *verdict.sentences(), *said]:
        tell(sentence)
