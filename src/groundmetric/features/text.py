"""Documents as histograms of words, or of topics.

Topics are latent features without a natural metric, which the paper's conclusion
suggests (section 8.3, "histograms of latent features, such as topics"). Both classes
wrap scikit-learn's ``CountVectorizer`` and ``LatentDirichletAllocation``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    clone,
)
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils.validation import check_is_fitted

from .. import validation

if TYPE_CHECKING:
    from collections.abc import Iterable

Floats = NDArray[np.float64]

NAMED = 5  # documents in a message


class _Documents(TransformerMixin, BaseEstimator):
    """Counts the words of documents; rejects documents without known words."""

    vectorizer: Any
    n_words: int

    def covers(self, documents: Iterable[str]) -> NDArray[np.bool_]:
        """Which documents contain a word from ``fit``.

        Only these can be transformed.
        """
        check_is_fitted(self)
        counts = self.vectorizer_.transform(_as_documents(documents))
        return np.asarray(counts.sum(axis=1)).ravel() > 0

    def _fitted_counts(self, documents: Iterable[str]) -> Any:
        """Learn the vocabulary; count the words of documents that have any."""
        n_words = validation.as_count(self.n_words, "n_words", low=1)
        if self.vectorizer is None:
            own = CountVectorizer(max_features=n_words, stop_words="english")
        else:
            own = clone(self.vectorizer)
        self.vectorizer_ = own
        counts = own.fit_transform(_as_documents(documents))
        return counts[np.asarray(counts.sum(axis=1)).ravel() > 0]

    def _counts(self, documents: Iterable[str]) -> Any:
        check_is_fitted(self)
        counts = self.vectorizer_.transform(_as_documents(documents))
        empty = np.flatnonzero(np.asarray(counts.sum(axis=1)).ravel() <= 0)
        if empty.size:
            some = ", ".join(f"documents[{i}]" for i in empty[:NAMED])
            more = f" and {empty.size - NAMED} more" if empty.size > NAMED else ""
            raise ValueError(
                f"{some}{more} have no word that was seen in fit; leave them out, or "
                "select with covers(documents)."
            )
        return counts

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


class WordHistograms(_Documents):
    """Documents as histograms over their most frequent words, a transformer.

    Parameters
    ----------
    n_words : int
        Number of words to keep: the most frequent ones, without English stop words.
    vectorizer : estimator, optional
        Counts words instead, such as a ``CountVectorizer`` for another language;
        n_words then has no effect.

    Attributes
    ----------
    vectorizer_ : estimator
        The fitted vectorizer.

    Examples
    --------
    >>> from groundmetric.features import WordHistograms
    >>> documents = ["moon and moon and sun", "sun, stars", "stars, stars, stars"]
    >>> words = WordHistograms(n_words=3).fit(documents)
    >>> words.get_feature_names_out()
    array(['moon', 'stars', 'sun'], dtype=object)
    >>> words.transform(documents[1:])
    array([[0. , 0.5, 0.5],
           [0. , 1. , 0. ]])
    >>> words.covers(["moonshine", "moon, shine"])
    array([False,  True])
    """

    def __init__(self, *, n_words: int = 128, vectorizer: Any = None) -> None:
        self.n_words = n_words
        self.vectorizer = vectorizer

    def fit(self, documents: Iterable[str], y: object = None) -> WordHistograms:  # noqa: ARG002 - scikit-learn's
        """Learn the vocabulary."""
        self._fitted_counts(documents)
        return self

    def transform(self, documents: Iterable[str]) -> Floats:
        """Share of each word in each document, (n_documents, n_words)."""
        return validation.as_distributions(self._counts(documents), "documents")

    def get_feature_names_out(self, input_features: object = None) -> NDArray[Any]:  # noqa: ARG002 - scikit-learn's
        """Words, one per bin."""
        check_is_fitted(self)
        return np.asarray(self.vectorizer_.get_feature_names_out())


class TopicHistograms(ClassNamePrefixFeaturesOutMixin, _Documents):
    """Documents as histograms over latent topics, a transformer.

    Latent Dirichlet allocation (Blei, Ng & Jordan, 2003): a document draws each of its
    words from one of its topics. Its histogram is the posterior mean of its topic
    shares.

    Parameters
    ----------
    n_topics : int
        Number of topics, the bins.
    n_words : int
        Number of words to learn from: the most frequent ones, without English stop
        words.
    vectorizer : estimator, optional
        Counts words instead; n_words then has no effect.
    max_iter : int
        Number of passes over the documents.
    random_state : int, RandomState or None
        Seed or generator for the initial topics.

    Attributes
    ----------
    vectorizer_, model_ : estimators
        The fitted vectorizer and model.
    topics_ : ndarray of shape (n_topics, n_words)
        Topics as histograms over words.

    Examples
    --------
    >>> from groundmetric.features import TopicHistograms
    >>> documents = ["moon sun stars", "stars moon moon", "sun sun moon stars"] * 2
    >>> documents += ["goal team match", "team goal goal", "match match team"] * 2
    >>> topics = TopicHistograms(n_topics=2, random_state=0).fit(documents)
    >>> X = topics.transform(documents)
    >>> X.shape
    (12, 2)
    >>> X.argmax(axis=1)
    array([1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0])
    """

    def __init__(
        self,
        *,
        n_topics: int = 32,
        n_words: int = 5000,
        vectorizer: Any = None,
        max_iter: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_topics = n_topics
        self.n_words = n_words
        self.vectorizer = vectorizer
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, documents: Iterable[str], y: object = None) -> TopicHistograms:  # noqa: ARG002 - scikit-learn's
        """Learn words and topics, from the documents that have words."""
        model = LatentDirichletAllocation(
            validation.as_count(self.n_topics, "n_topics", low=1),
            max_iter=validation.as_count(self.max_iter, "max_iter", low=1),
            learning_method="batch",
            random_state=self.random_state,
        )
        self.model_ = model.fit(self._fitted_counts(documents))
        weights = self.model_.components_
        self.topics_ = weights / weights.sum(axis=1, keepdims=True)
        return self

    def transform(self, documents: Iterable[str]) -> Floats:
        """Share of each topic in each document, (n_documents, n_topics)."""
        counts = self._counts(documents)
        return validation.as_distributions(self.model_.transform(counts), "documents")

    @property
    def _n_features_out(self) -> int:
        return len(self.topics_)


def _as_documents(documents: Iterable[str]) -> list[str]:
    """Reject a single string, which would be read letter by letter."""
    if isinstance(documents, (str, bytes)):
        raise ValueError("documents is one string; a list of them is needed.")
    try:
        found = list(documents)
    except TypeError as error:
        raise ValueError(f"documents is not a list of strings: {error}.") from error
    for i, document in enumerate(found):
        if not isinstance(document, str):
            kind = type(document).__name__
            raise ValueError(f"documents[{i}] is not a string, but of type {kind}.")
    if not found:
        raise ValueError("documents is empty: at least one is needed.")
    return found
