"""What methods are called in tables and in sentences, and which of them learn."""

from __future__ import annotations

from ..distances import DISTANCES

__all__ = ["FIXED", "GIVEN", "LABELS", "LEARNERS", "TFIDF"]
__all__ += ["in_a_sentence", "label_of", "learns"]

#: Distances that learn nothing.
FIXED: tuple[str, ...] = ("l1", "hellinger", "chi2", "l2")
#: How names of EMDs with a given ground metric begin; its file follows.
GIVEN = "emd:"
TFIDF = "tfidf-l1"  # for words; learns nothing from labels
#: Other learners that a learned metric is compared with: our own for smoothed
#: distances, and others on square roots of histograms (LMNN, ITML, NCA) or histograms.
LEARNERS: tuple[str, ...] = (
    "gml-smoothed",
    "lmnn-hellinger",
    "itml-hellinger",
    "nca-hellinger",
    "chi2-lmnn",
)
# In tables and charts, and within a sentence. A report calls our metric "learned", and
# where it started, "initial".
_CALLED: dict[str, tuple[str, str]] = {
    "learned": ("learned metric", "the learned metric"),
    "gml": ("learned metric", "the learned metric"),
    "initial": ("initial metric", "the initial metric"),
    "l1": ("l1", "the l1 distance"),
    "hellinger": ("Hellinger", "the Hellinger distance"),
    "chi2": ("chi-squared", "the chi-squared distance"),
    "l2": ("l2", "the l2 distance"),
    "jensen_shannon": ("Jensen-Shannon", "the Jensen-Shannon distance"),
    "fisher": ("Fisher", "the Fisher distance"),
    "pixels": ("pixel EMD", "the EMD with Euclidean distances between pixels"),
    "gml-smoothed": (
        "smoothed metric",
        "the smoothed metric (SinkhornMetricLearning)",
    ),
    "lmnn-hellinger": ("LMNN", "LMNN"),
    "itml-hellinger": ("ITML", "ITML"),
    "nca-hellinger": ("NCA", "NCA"),
    "chi2-lmnn": ("chi-squared LMNN", "chi-squared LMNN"),
    "tfidf-l1": ("l1 of TF-IDF", "the l1 of TF-IDF"),
    "auto": ("AutoMetric", "AutoMetric"),
    "combined": (
        "combined metric",
        "the combined metric (CombinedMetricLearning)",
    ),
    "discriminant": (
        "discriminants",
        "discriminants (DiscriminantMetricLearning)",
    ),
    "logistic": ("logistic regression", "logistic regression"),
    "linear-svm": ("linear SVM", "a linear support vector machine"),
}
LABELS: dict[str, str] = {name: label for name, (label, _) in _CALLED.items()}


def in_a_sentence(name: str) -> str:
    """Name a distance or predictor of :data:`LABELS` within a sentence.

    Examples
    --------
    >>> from groundmetric.experiments.names import in_a_sentence
    >>> in_a_sentence("gml"), in_a_sentence("l1"), in_a_sentence("lmnn-hellinger")
    ('the learned metric', 'the l1 distance', 'LMNN')
    """
    if name.startswith(GIVEN):
        return f"the EMD with {name.removeprefix(GIVEN)}"
    return _CALLED[name][1]


def label_of(name: str) -> str:
    """Name a distance or predictor in a table.

    Examples
    --------
    >>> from groundmetric.experiments.names import label_of
    >>> label_of("l1"), label_of("emd:ground.csv")
    ('l1', 'EMD with ground.csv')
    """
    if name.startswith(GIVEN):
        return f"EMD with {name.removeprefix(GIVEN)}"
    return LABELS[name]


def learns(name: str) -> bool:
    """Whether a distance learns from labels.

    Examples
    --------
    >>> from groundmetric.experiments.names import learns
    >>> learns("gml"), learns("tfidf-l1")
    (True, False)
    """
    fixed = {*DISTANCES, TFIDF, "initial", "pixels"}
    return name not in fixed and not name.startswith(GIVEN)
