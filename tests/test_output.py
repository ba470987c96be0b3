"""Transformers: names of features, and frames as output."""

import numpy as np
import pandas as pd
import pytest

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
from groundmetric.features import TopicHistograms, WordHistograms

X = pd.DataFrame(
    [[4.0, 1, 1], [3, 2, 1], [1, 1, 4], [1, 2, 3]],
    columns=["red", "green", "blue"],
    index=list("abcd"),
)
y = [0, 0, 1, 1]
TRANSFORMERS = [
    gm.GroundMetricLearning(max_steps=1),
    gm.EMDKernel(),
    LMNN(n_neighbors=1),
    ITML(),
    NCA(),
    GMML(),
    ChiSquaredLMNN(n_neighbors=1),
    AitchisonEmbedding(n_neighbors=1),
    Lebanon(),
]
DOCUMENTS = ["moon sun", "sun stars", "stars moon", "sun"]


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=lambda t: type(t).__name__)
def test_frames(transformer):
    plain = transformer.fit(X, y).transform(X)
    transformer.set_output(transform="pandas")
    made = transformer.fit_transform(X, y)
    prefix = type(transformer).__name__.lower()
    assert list(made.columns) == [f"{prefix}{i}" for i in range(plain.shape[1])]
    assert list(made.columns) == list(transformer.get_feature_names_out())
    assert list(made.index) == list(X.index)
    np.testing.assert_allclose(made.to_numpy(), plain, atol=1e-12)
    assert transformer.feature_names_in_.tolist() == list(X.columns)
    transformer.set_output(transform="default")


def test_graphs_have_names():
    search = gm.EMDNeighbors(n_neighbors=1).fit(X)
    names = [f"emdneighbors{i}" for i in range(4)]
    assert list(search.get_feature_names_out()) == names
    assert search.feature_names_in_.tolist() == list(X.columns)


@pytest.mark.parametrize(
    ("transformer", "names"),
    [
        (WordHistograms(n_words=3), ["moon", "stars", "sun"]),
        (TopicHistograms(n_topics=2, random_state=0), None),
    ],
)
def test_documents(transformer, names):
    names = names or ["topichistograms0", "topichistograms1"]
    plain = transformer.fit(DOCUMENTS).transform(DOCUMENTS)
    made = transformer.set_output(transform="pandas").transform(DOCUMENTS)
    assert list(made.columns) == names
    np.testing.assert_array_equal(made.to_numpy(), plain)
