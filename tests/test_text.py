"""Histograms of words and topics."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

import groundmetric as gm
from groundmetric.features import TopicHistograms, WordHistograms

SKY = ["moon sun stars", "stars moon moon", "sun sun moon stars", "the moon"]
GAME = ["goal team match", "team goal goal", "match match team", "the team"]


def test_words_by_hand():
    words = WordHistograms(n_words=2).fit(["a moon, the moon", "sun moon", "sun stars"])
    assert words.get_feature_names_out().tolist() == ["moon", "sun"]
    found = words.transform(["moon sun moon moon", "sun stars"])
    assert found.tolist() == [[0.75, 0.25], [0.0, 1.0]]


def test_any_vectorizer_counts():
    letters = CountVectorizer(analyzer="char")
    words = WordHistograms(vectorizer=letters)
    assert words.fit_transform(["aab", "b"]).tolist() == [[2 / 3, 1 / 3], [0, 1]]
    assert not hasattr(letters, "vocabulary_")  # a clone was fitted
    assert clone(words).get_params()["vectorizer"].analyzer == "char"


@pytest.mark.parametrize("kind", [WordHistograms, TopicHistograms])
def test_documents_without_known_words_are_named(kind):
    words = kind().fit([*SKY, "of the"])
    unknown = ["moon", *["xyzzy"] * 7, ""]
    some = r"documents\[1\], .*documents\[5\] and 3 more have no word"
    with pytest.raises(ValueError, match=some):
        words.transform(unknown)
    kept = words.covers(unknown)
    assert kept.tolist() == [True] + [False] * 8
    assert len(words.transform(np.array(unknown)[kept])) == 1


def test_topics_are_histograms():
    topics = TopicHistograms(n_topics=2, random_state=0)
    X = topics.fit_transform(SKY + GAME)
    assert X.sum(axis=1) == pytest.approx(np.ones(8))
    assert (X > 0).all()
    sky, game = X[:4].argmax(axis=1), X[4:].argmax(axis=1)
    assert len(set(sky)) == len(set(game)) == 1
    assert sky[0] != game[0]
    assert topics.topics_.sum(axis=1) == pytest.approx([1, 1])
    names = topics.vectorizer_.get_feature_names_out()
    assert names[topics.topics_[sky[0]].argmax()] == "moon"
    assert len(topics.get_feature_names_out()) == 2
    again = clone(topics).fit_transform(SKY + GAME)
    assert (again == X).all()


def test_a_pipeline_learns_from_documents():
    words = WordHistograms()
    learner = make_pipeline(words, gm.EMDClassifier(n_neighbors=1))
    learner.fit(SKY + GAME, [0] * 4 + [1] * 4)
    assert learner.predict(["moon moon", "match"]).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ("moon", "documents is one string"),
        (["moon", 3], r"documents\[1\] is not a string, but of type int"),
        ([], "documents is empty"),
        (3, "documents is not a list of strings"),
    ],
)
def test_bad_documents_are_named(documents, message):
    with pytest.raises(ValueError, match=message):
        WordHistograms().fit(documents)


@pytest.mark.parametrize(
    "transformer",
    [
        WordHistograms(n_words=0),
        TopicHistograms(n_topics=0),
        TopicHistograms(max_iter=0),
    ],
)
def test_bad_settings_are_named(transformer):
    with pytest.raises(ValueError, match=r"(n_words|n_topics|max_iter) is 0"):
        transformer.fit(SKY)


def test_transform_needs_fit():
    for transformer in (WordHistograms(), TopicHistograms()):
        with pytest.raises(NotFittedError):
            transformer.transform(SKY)
        with pytest.raises(NotFittedError):
            transformer.covers(SKY)
