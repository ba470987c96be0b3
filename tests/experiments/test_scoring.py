"""Splits and scores of your own."""

import numpy as np
import pytest
from scipy import stats
from sklearn.model_selection import LeaveOneOut, ShuffleSplit, StratifiedKFold

from groundmetric.experiments import compare, cross_validate
from groundmetric.experiments.comparison import Comparison
from groundmetric.experiments.design import Design
from groundmetric.experiments.scoring import Score, Scoring, estimate_of_scores, scored
from groundmetric.experiments.splits import given, split_data

X = np.random.default_rng(0).dirichlet(np.ones(4), 24)
Y = np.repeat([0, 1], 12)
X[:12, 0] += 0.4


def nearest(distances, y_train, y_test):
    return np.mean(y_train[distances.argmin(axis=1)] == y_test)


def test_a_single_test_histogram_shows_no_interval_of_scores():
    test = {"X_test": X[:1], "y_test": Y[:1]}
    found = compare(X, Y, **test, methods=["l1", "l2"], n_neighbors=1, scoring=nearest)
    assert found["score"].tolist() == [1.0, 1.0]
    assert found[["score_low", "score_high", "worse_low"]].isna().all(axis=None)


def test_splits_may_be_those_of_scikit_learn():
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    (found,) = cross_validate(X, Y, methods=["l1"], cv=cv)
    pairs = list(cv.split(X, Y))
    (again,) = cross_validate(X, Y, methods=["l1"], cv=pairs)
    masks = [tuple(np.isin(np.arange(24), part) for part in pair) for pair in pairs]
    (masked,) = cross_validate(X, Y, methods=["l1"], cv=masks)
    assert found.errors == again.errors == masked.errors
    assert found.error() == again.error()
    assert found.design.words == "Errors are measured on the 3 splits given."
    assert "Nadeau" in found.design.inference
    one = cross_validate(X, Y, methods=["l1"], cv=ShuffleSplit(1, random_state=0))[0]
    assert one.design.words == "Errors are measured on the split given."
    assert "Bonett" in one.design.inference
    assert one.error().low < one.error().high
    (each,) = cross_validate(X, Y, methods=["l1"], cv=LeaveOneOut())
    assert len(each.errors) == 24


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cv": 5}, "cv is 5; n_folds is the number of folds"),
        ({"cv": []}, "cv has no folds"),
        (
            {"cv": [(np.arange(20), [19, 20])]},
            r"cv\[0\] has histogram 19 both to learn",
        ),
        ({"cv": [([0, 1], [24])]}, r"cv\[0\]\[1\]"),
        ({"cv": [(np.arange(12), [13])]}, "one class only, 0 in a split"),
        ({"cv": LeaveOneOut(), "n_train": 12}, "cv and n_train cannot be combined"),
        (
            {"cv": LeaveOneOut(), "X_test": X, "y_test": Y},
            "cv cannot be combined with X",
        ),
        ({"scoring": "accuracy"}, "scoring is 'accuracy'; a function is needed"),
        ({"scoring": lambda *_: "good"}, "scoring returned 'good'; a number is needed"),
        ({"scoring": lambda *_: np.nan}, "scoring returned nan; a number is needed"),
        (
            {"scoring": nearest, "methods": ["l1", "logistic"]},
            "methods has 'logistic', which has no distances for scoring",
        ),
    ],
)
def test_bad_splits_and_scores(options, message):
    with pytest.raises(ValueError, match=message):
        compare(X, Y, **{"methods": ["l1"], **options})


def test_a_score_decides():
    far, near = (lambda d, *_: -d.min(axis=1).mean()), nearest
    by_score = compare(X, Y, methods=["l1", "l2", "gml"], n_folds=3, scoring=far)
    assert by_score.index[0] == "l2"  # has the smallest distances
    assert by_score["score"].is_monotonic_decreasing
    assert (by_score["score_low"] < by_score["score"]).all()
    assert by_score["worse"].tolist() == pytest.approx(
        (by_score["score"].iloc[0] - by_score["score"]).tolist()
    )
    ours = by_score.loc["gml", "score"]
    assert by_score["saved"].tolist() == pytest.approx(
        (ours - by_score["score"]).tolist()
    )
    best = f"{by_score['score'].iloc[0]:.3g}"
    assert by_score.attrs["verdict"] == (
        f"Use the l2 distance on these data: a score of {best}, and no learner has a "
        "higher one."
    )
    usual = compare(X, Y, n_folds=3, scoring=near, n_neighbors=1)
    assert set(usual["kind"]) == {"distance"}
    np.testing.assert_allclose(usual["score"], 1 - usual["error"])


def test_an_average_has_the_interval_of_its_parts():
    # 20 blocks of one histogram each: pseudo-values are the values themselves.
    rng = np.random.default_rng(0)
    splits = [([k], np.arange(5, 25)) for k in range(5)]
    design = Design("disjoint", np.arange(25) % 2, splits)
    values = (rng.random((5, 20)) < 0.7).astype(float)
    blocks = Scoring.of(nearest, design).blocks
    assert sorted(blocks) == list(range(20))
    scores = [
        scored(
            Scoring(lambda d, *_: d[:, 0].mean(), blocks),
            row[:, None], np.zeros(1), np.zeros(20),
        )
        for row in values
    ]  # fmt: skip
    for one, row in zip(scores, values, strict=True):
        np.testing.assert_allclose(np.sort(one.parts), np.sort(row), atol=1e-9)
    found = estimate_of_scores(design, scores)
    means = values.mean(axis=1)
    rest = values - means[:, None] - values.mean(axis=0) + values.mean()
    noise = (rest**2).sum() / 4 / 19 / 100
    between, within = means.var(ddof=1) / 5, values.mean(axis=0).var(ddof=1) / 20
    variance = max(between - noise, 0) + max(within - noise, 0) + noise
    freedom = max(1, variance**2 / (between**2 / 4 + within**2 / 19))
    half = stats.t.ppf(0.975, freedom) * np.sqrt(variance)
    assert (found.low, found.high) == pytest.approx(
        (values.mean() - half, values.mean() + half)
    )


def test_blocks_are_of_whole_groups_and_all_classes():
    y, groups = np.arange(200) // 2 % 2, np.arange(200) // 4
    data = split_data(
        np.ones((2, 2)),
        [0, 1],
        np.ones((200, 2)),
        y,
        groups=[-2, -1],
        groups_test=groups,
    )
    blocks = Scoring.of(nearest, data.design).blocks
    assert len(np.unique(blocks)) == 20
    for group in np.unique(groups):
        assert len(np.unique(blocks[groups == group])) == 1
    assert all({*y[blocks == block]} == {0, 1} for block in range(20))
    folds = split_data(X, Y, n_folds=2).design
    assert Scoring.of(nearest, folds).blocks is None


def test_intervals_of_scores_cover_the_truth():
    """The share of the largest quarter, which is no mean of histograms."""
    rng = np.random.default_rng(0)
    splits = [([k], np.arange(5, 205)) for k in range(5)]
    design = Design("disjoint", np.arange(205) % 2, splits)
    truth = stats.norm.ppf(0.75)
    scoring = Scoring.of(lambda d, *_: np.quantile(d[:, 0], 0.75), design)
    covered = 0
    for _ in range(200):
        common = rng.normal(size=200)
        scores = []
        for _ in range(5):
            values = np.sqrt(0.8) * common + np.sqrt(0.2) * rng.normal(size=200)
            given_to = values[:, None], np.zeros(1), np.zeros(200)
            scores.append(scored(scoring, *given_to))
        found = estimate_of_scores(design, scores)
        covered += found.low <= truth <= found.high
    assert covered >= 0.9 * 200


def test_a_score_that_never_changes_has_no_interval():
    design = given([0, 1], [0, 1] * 10)
    found = estimate_of_scores(design, [Score(1.0, np.ones(20))])
    assert found.mean == 1.0
    assert np.isnan([found.low, found.high, found.sure]).all()


def frame_of(**attrs):
    import pandas as pd

    rows = {
        "method": ["nca", "l1", "mine", "logistic"],
        "kind": ["distance"] * 3 + ["predictor"],
        "error": [0.082, 0.1, 0.082, 0.09], "low": [0.05, 0.07, 0.05, 0.06],
        "high": [0.12, 0.14, 0.12, 0.13], "balanced": [0.3, 0.2, 0.4, 0.25],
        "balanced_low": [0.2, 0.1, 0.3, 0.15], "balanced_high": [0.4, 0.3, 0.5, 0.35],
    }  # fmt: skip
    found = Comparison(pd.DataFrame(rows).set_index("method"))
    labels = {"nca": "NCA", "l1": "l1", "mine": "50 % & more_", "logistic": "logistic"}
    found.attrs = {"labels": labels, "is_unequal": False, **attrs}
    return found


def test_a_table_for_a_paper():
    assert (
        frame_of().to_latex()
        == r"""\begin{tabular}{lrr}
\toprule
Method & Error (\%) & 95\,\% interval \\
\midrule
NCA & \textbf{8.2} & [5.0, 12.0] \\
l1 & 10.0 & [7.0, 14.0] \\
50 \% \& more\_ & \textbf{8.2} & [5.0, 12.0] \\
\midrule
logistic & 9.0 & [6.0, 13.0] \\
\bottomrule
\end{tabular}"""
    )


def test_a_table_with_balanced_errors_and_scores():
    frame = frame_of(is_unequal=True)
    lines = frame.to_latex().splitlines()
    assert lines[0] == r"\begin{tabular}{lrrrr}"
    assert lines[5] == r"l1 & 10.0 & [7.0, 14.0] & \textbf{20.0} & [10.0, 30.0] \\"
    frame = frame_of()
    for column, value in (
        ("score", 0.5),
        ("score_low", np.nan),
        ("score_high", np.nan),
    ):
        frame[column] = value
    lines = frame.to_latex().splitlines()
    assert lines[2].startswith(r"Method & Score & 95\,\% interval & Error (\%)")
    assert lines[4].startswith(r"NCA & \textbf{0.500} &  & \textbf{8.2}")


def test_compare_returns_a_table_that_writes_itself():
    frame = compare(X, Y, methods=["l1", "logistic"], n_folds=3, n_neighbors=1)
    assert isinstance(frame, Comparison)
    assert frame.to_latex().count(r"\midrule") == 2
    assert "logistic regression & " in frame.to_latex()
