"""Messages of estimators about bad histograms and labels, as in the command."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning

import groundmetric as gm
from groundmetric.baselines import (
    GMML,
    ITML,
    LMNN,
    NCA,
    AitchisonEmbedding,
    ChiSquaredLMNN,
    Lebanon,
)

X = np.array([[4.0, 1, 1], [3, 2, 1], [1, 1, 4], [1, 2, 3]])
y = np.array([0, 0, 1, 1])
QUICK = gm.GroundMetricLearning(max_steps=1)
LEARNERS = [
    QUICK,
    gm.EMDClassifier(1, learner=QUICK),
    LMNN(n_neighbors=1),
    ITML(),
    NCA(),
    GMML(),
    ChiSquaredLMNN(),
    AitchisonEmbedding(n_neighbors=1),
]
ESTIMATORS = [
    *LEARNERS,
    Lebanon(),
    gm.EMDKernel(),
    gm.EMDNeighbors(n_neighbors=1),
    gm.EMDSVC([gm.EMDKernel()]),
]
CASES = {
    "NaN": (np.nan, r" is nan: entries must be finite\. \(Input X contains NaN\.\)$"),
    "infinity": (np.inf, r" is inf: entries must be finite\. \(Input X contains inf"),
    "negative": (
        -2.0,
        r" is -2\.0: histograms must not have negative entries\. \(Negative values in",
    ),
}


def name_of(estimator):
    return type(estimator).__name__


def frame(values, index=None):
    return pd.DataFrame(values, columns=["red", "green", "blue"], index=index)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
def test_bad_entries_are_named(estimator, case):
    value, sentence = CASES[case]
    bad = X.copy()
    bad[2, 1] = value
    named = r"^X, row 2, column 'green'"
    indexed = r"^X, row 2 \(index c\), column 'green'"
    for rows, place in (
        (bad, r"^X\[2, 1\]"),
        (bad.tolist(), r"^X\[2, 1\]"),
        (sp.csr_array(bad), r"^X\[2, 1\]"),
        (frame(bad), named),
        (frame(bad, index=list("abcd")), indexed),
    ):
        with pytest.raises(ValueError, match=place + sentence):
            estimator.fit(rows, y)
    fitted = estimator.fit(frame(X), y)
    use = "predict" if hasattr(fitted, "predict") else "transform"
    with pytest.raises(ValueError, match=named + sentence):
        getattr(fitted, use)(frame(bad))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
def test_rows_without_mass_are_named(estimator):
    bad = X.copy()
    bad[2] = 0.0
    sentence = " has zero mass: histograms need positive mass"
    with pytest.raises(ValueError, match=r"^X\[2\]" + sentence):
        estimator.fit(bad, y)
    with pytest.raises(ValueError, match=r"^X, row 2" + sentence):
        estimator.fit(frame(bad), y)


def test_text_is_named():
    bad = frame(X).astype(object)
    bad.loc[1, "blue"] = "many"
    with pytest.raises(ValueError, match=r"^X, row 1, column 'blue' is 'many': number"):
        QUICK.fit(bad, y)
    with pytest.raises(ValueError, match=r"^X\[1, 2\] is 'many': numbers are needed"):
        gm.pairwise_emd(bad.to_numpy(), metric=1 - np.eye(3))


def test_functions_name_columns_too():
    bad = frame(X / X.sum(axis=1, keepdims=True))
    bad.loc[3, "red"] = -0.5
    with pytest.raises(ValueError, match=r"^Y, row 3, column 'red' is -0\.5: hist"):
        gm.pairwise_emd(X / X.sum(axis=1, keepdims=True), bad, metric=1 - np.eye(3))


def test_precomputed_distances_are_named():
    kernel = gm.EMDKernel(distance="precomputed").fit(1 - np.eye(3))
    with pytest.raises(ValueError, match=r"^X\[0, 1\] is -1\.0: entries must not be"):
        kernel.transform([[0, -1, 1]])
    with pytest.raises(ValueError, match=r"^X\[0, 2\] is nan: entries must be finite"):
        kernel.transform([[0, 1, np.nan]])


@pytest.mark.parametrize("learner", LEARNERS, ids=name_of)
def test_labels(learner):
    expected = learner.fit(X, y).classes_
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        np.testing.assert_array_equal(learner.fit(X, y[:, None]).classes_, expected)
    for labels, sentence in (
        ([0.0, 1.0, 0.25, 1.0], r"Unknown label type: continuous.* y\[2\] is 0\.25\."),
        ([0, 0, "a", "b"], r"of one kind, .*, but y\[0\] is 0 and y\[2\] is 'a'"),
        (np.array(["a", "b", 3, "a"], dtype=object), r"y\[0\] is 'a' and y\[2\] is 3"),
        ([0.0, np.nan, 1.0, 1.0], r"y\[1\] is nan: labels must not be missing"),
        (["a", None, "b", "b"], r"y\[1\] is None: labels must not be missing"),
        (np.stack([y, y], axis=1), r"y has shape \(4, 2\); one label per histogram"),
        (y[:3], "y has 3 labels for 4 histograms"),
    ):
        with pytest.raises(ValueError, match=sentence):
            learner.fit(X, labels)


def test_labels_of_one_kind():
    # Whole numbers of several types are of one kind, and so is text.
    for labels in ([True, False, 1, 0], [1, 2.0, np.int8(1), 2], ("a", "b", "a", "b")):
        assert len(QUICK.fit(X, labels).classes_) == 2
