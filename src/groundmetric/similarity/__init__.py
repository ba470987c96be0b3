"""Which histograms are similar: weights of pairs from labels, trees or lists.

Section 3.1 of the paper. A room below ``tables`` and ``learning``, which both need it.
"""

from ._makers import label_similarity, pair_similarity, taxonomy_similarity

__all__ = [
    "label_similarity",
    "pair_similarity",
    "taxonomy_similarity",
]
