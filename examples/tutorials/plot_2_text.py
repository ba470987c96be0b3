"""
Text: from documents to a learned metric between words
======================================================

Two documents can say the same thing in different words. The *word mover's distance*
knows that: it is the earth mover's distance between counts of words, where moving from
one word to another costs the distance between their vectors. Here we make word vectors,
compute the distances, and learn from labels which words should be close.
"""

# %%
# Documents
# ---------
#
# scikit-learn comes with many documents: the descriptions of its own classes and
# functions. From the first paragraphs of a description we want to tell which of five
# modules it belongs to.

import inspect
import re
from importlib import import_module

import matplotlib.pyplot as plt
import numpy as np
import scipy
import sklearn
from scipy.sparse import csr_array
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.metrics.pairwise import cosine_distances, manhattan_distances
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import normalize

import groundmetric as gm

MODULES = ["cluster", "decomposition", "ensemble", "linear_model", "preprocessing"]
SECTIONS = r"\n(?:Parameters|Read more|Attributes|Notes|Examples|\.\. version)"


def public(place):
    """Find the public functions and classes in a module, or methods in a class."""
    return {
        name: one
        for name, one in vars(place).items()
        if callable(one) and not name.startswith("_")
    }


texts, labels, titles = [], [], []
for name in MODULES:
    for title, one in public(import_module(f"sklearn.{name}")).items():
        texts.append(re.split(SECTIONS, inspect.getdoc(one) or "")[0])
        labels.append(name)
        titles.append(title)
print(len(texts), "documents, such as")
for title in ["RandomForestClassifier", "IncrementalPCA"]:
    print(*texts[titles.index(title)].split("\n\n")[:2], sep="\n")

# %%
# Word vectors
# ------------
#
# If you have vectors, from gensim or spaCy, use them. Here we compute vectors from the
# documentation of scikit-learn, SciPy and NumPy: words are close if they occur
# in the same paragraphs. We count how often they do, take logarithms of the ratio to
# what chance would give (PPMI), and keep 50 dimensions.

LIBRARIES = {
    sklearn: "calibration cluster covariance cross_decomposition datasets "
    "decomposition discriminant_analysis ensemble feature_extraction feature_selection "
    "gaussian_process impute inspection linear_model manifold metrics mixture "
    "model_selection naive_bayes neighbors neural_network pipeline preprocessing "
    "random_projection semi_supervised svm tree utils",
    scipy: "cluster.hierarchy cluster.vq interpolate linalg ndimage optimize signal "
    "sparse spatial stats",
    np: "linalg random",
}


def paragraphs(module):
    """Yield the paragraphs of all descriptions in a module, without code."""
    for one in public(module).values():
        members = public(one).values() if inspect.isclass(one) else ()
        for described in (one, *members):
            for text in (inspect.getdoc(described) or "").split("\n\n"):
                if ">>>" not in text:
                    yield text


corpus = set()
for library, modules in LIBRARIES.items():
    for name in modules.split():
        corpus.update(paragraphs(import_module(f"{library.__name__}.{name}")))

counter = CountVectorizer(
    stop_words="english",
    token_pattern=r"\b[a-z]{3,}\b",
    min_df=5,
    binary=True,
)
seen = counter.fit_transform(sorted(corpus)).astype(float)
together = (seen.T @ seen).toarray()
np.fill_diagonal(together, 0)
chance = np.outer(together.sum(axis=0), together.sum(axis=0)) / together.sum()
surprise = np.log(np.maximum(together / chance, 1))  # PPMI
svd = TruncatedSVD(50, random_state=0)
vectors = normalize(svd.fit_transform(csr_array(surprise)) / svd.singular_values_**0.5)
words = counter.get_feature_names_out()
print(f"{len(corpus):,} paragraphs, {len(words):,} words")

for word in ["clusters", "regression", "forest", "eigenvalues"]:
    k = np.flatnonzero(words == word)[0]
    near = np.argsort(-(vectors @ vectors[k]))[1:6]
    print(f"{word}: {', '.join(words[near])}")

# %%
# Word mover's distances
# ----------------------
#
# Documents become rows of a sparse matrix, with a column for each word. With the
# vectors as ``points``, :func:`~groundmetric.pairwise_emd` computes distances between
# the words of each pair only; no matrix of all words is needed, and the vocabulary may
# be large. Rows have to sum to 1, and a document without known words has no histogram.

counts = CountVectorizer(vocabulary=words).transform(texts)
long_enough = np.flatnonzero(counts.sum(axis=1) >= 5)
X = normalize(csr_array(counts[long_enough], dtype=float), norm="l1")
y = np.array(labels)[long_enough]
names = np.array(titles)[long_enough]

D = gm.pairwise_emd(X, points=vectors)
print(f"{X.shape[0]} documents, {X.shape[1]:,} words, {X.nnz:,} entries")
for title in ["SpectralClustering", "RandomForestClassifier", "IncrementalPCA"]:
    near = np.argsort(D[names == title][0])[1:4]
    print(f"{title}: {', '.join(names[near])}")

# %%
# Learn from labels
# -----------------
#
# A metric between all pairs of words needs memory for all pairs, so we keep the words
# that occur in at least four documents. The learner starts from the distances between
# their vectors (``points``), and changes them so that documents of the same module come
# close. Eight documents of each module have labels; the others are classified by their
# three nearest neighbors.

common = np.flatnonzero((X > 0).sum(axis=0) >= 4)
kept = X[:, common].sum(axis=1) > 0
X, y, D, names = X[kept], y[kept], D[np.ix_(kept, kept)], names[kept]
dense, points = X[:, common].toarray(), vectors[common]
print(dense.shape)


def error(distances, train, test):
    """Classify the test documents by their distances to the training documents."""
    knn = KNeighborsClassifier(n_neighbors=3, metric="precomputed")
    knn.fit(distances[np.ix_(train, train)], y[train])
    return 1 - knn.score(distances[np.ix_(test, train)], y[test])


errors = []
splits = StratifiedShuffleSplit(5, train_size=40, random_state=0)
for train, test in splits.split(dense, y):
    learner = gm.GroundMetricLearning(points=points).fit(dense[train], y[train])
    found = {
        "l1": manhattan_distances(X),
        "TF-IDF, cosine": cosine_distances(TfidfTransformer().fit_transform(X)),
        "word mover's": D,
        "learned": learner.pairwise(dense),
    }
    errors.append([error(each, train, test) for each in found.values()])

mean, spread = np.mean(errors, axis=0), np.std(errors, axis=0, ddof=1)
for name, middle, around in zip(found, mean, spread, strict=True):
    print(f"{name:15s} {middle:.1%} errors, std. dev. {around:.1%}")

# %%
# Here, most of the gain comes from the word vectors. How much labels add to it depends
# on how many there are and how good the vectors are; compare on your own documents. The
# settings were chosen after a few trials on the same documents. Try others, such as
# vectors of 25 dimensions, more labels or one neighbor.
#
# What was learned
# ----------------
#
# In the last split, these pairs of words moved closest together and farthest apart,
# compared with the distances between their vectors:

before, after = learner.initial_metric_, learner.metric_
change = after / after.mean() - before / before.mean()
rows, columns = np.triu_indices_from(change, k=1)
order = np.argsort(change[rows, columns])
vocabulary = words[common]
for title, some in {"closer": order[:5], "farther": order[::-1][:5]}.items():
    pairs = zip(vocabulary[rows[some]], vocabulary[columns[some]], strict=True)
    print(f"{title}:", ", ".join(" - ".join(pair) for pair in pairs))

_, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.barh(list(found), 100 * mean, xerr=100 * spread, color="tab:orange")
ax.set_xlabel("errors of 3 nearest neighbors, %")
ax.invert_yaxis()

# %%
# Next: :class:`~groundmetric.EMDNeighbors` takes ``points``, too, and finds the nearest
# documents without computing all distances. For tens of thousands of words,
# ``MappedMetricLearning(points, n_components)`` learns a map of the vectors
# instead of distances between all pairs; :doc:`/scale` says what is feasible.
