"""Similarity weights of pairs of histograms, from labels, trees or lists.

Section 3.1 of the paper; ``tables`` and ``learning`` both use it.
"""

from ._makers import label_similarity, pair_similarity, taxonomy_similarity

__all__ = [
    "label_similarity",
    "pair_similarity",
    "taxonomy_similarity",
]
