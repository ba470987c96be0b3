"""What the compared distances are called."""

from __future__ import annotations

from .choice import LEARNERS, TFIDF

__all__ = ["LABELS", "in_a_sentence"]

#: In tables and charts. A report calls our metric "learned", and where it started,
#: "initial".
LABELS: dict[str, str] = {
    "learned": "learned metric",
    "gml": "learned metric",
    "initial": "initial metric",
    "l1": "l1",
    "hellinger": "Hellinger",
    "chi2": "chi-squared",
    "l2": "l2",
    "pixels": "pixel EMD",
    "gml-smoothed": "smoothed metric",
    "lmnn-hellinger": "LMNN",
    "itml-hellinger": "ITML",
    "nca-hellinger": "NCA",
    "chi2-lmnn": "chi-squared LMNN",
    "tfidf-l1": "l1 of TF-IDF",
}


def in_a_sentence(name: str) -> str:
    """Name a distance of :data:`LABELS` within a sentence.

    Examples
    --------
    >>> from groundmetric.experiments.names import in_a_sentence
    >>> in_a_sentence("gml"), in_a_sentence("l1"), in_a_sentence("lmnn-hellinger")
    ('the learned metric', 'the l1 distance', 'LMNN')
    """
    if name == "pixels":
        return "the EMD with Euclidean distances between pixels"
    if name == "gml-smoothed":
        return "the smoothed metric (SinkhornMetricLearning)"
    if name in LEARNERS:
        return LABELS[name]
    what = "" if name in ("learned", "gml", "initial", TFIDF) else " distance"
    return f"the {LABELS[name]}{what}"
