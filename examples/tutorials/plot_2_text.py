"""
Text: from documents to a learned metric between words
======================================================

Two documents can say the same thing in different words. The *word mover's distance*
knows that: it is the earth mover's distance between counts of words, where moving from
one word to another costs the distance between their vectors. Here we make word vectors,
compute the distances, and learn from labels which words matter, and which should be
close.
"""

# %%
# Documents
# ---------
#
# scikit-learn comes with many documents: the descriptions of its own classes and
# functions. From the first paragraphs of a description we want to tell which of five
# modules it belongs to.

import inspect
import math
import re
from importlib import import_module

import matplotlib.pyplot as plt
import numpy as np
import scipy
import sklearn
from scipy.sparse import csr_array
from sklearn.decomposition import PCA, TruncatedSVD
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
# The vectors know which words are near each other, but not which words matter here, nor
# for what. Labels say more. :class:`~groundmetric.SinkhornMetricLearning` starts from
# the vectors (``points``) and learns a weight of each word, a map of all vectors, and a
# small offset of each, all of them pulled back to where they started. ``"idf"`` starts
# the weights at the inverse document frequency. At infinite smoothing, the distance of
# two documents is that of their mean positions, so that learning and searching take
# products of matrices only. :class:`~groundmetric.DiscriminantMetricLearning` learns
# such positions in a closed form instead of 200 steps, which takes a hundredth of a
# second.
#
# Eight documents of each module have labels; the others are classified by their five
# nearest neighbors. The steps have the settings of :doc:`/guide/priors`; the closed
# form has its defaults, but for ``"idf"``. Neither was chosen on these documents.


def error(distances, train, test):
    """Classify the test documents by their distances to the training documents."""
    knn = KNeighborsClassifier(n_neighbors=5, metric="precomputed")
    knn.fit(distances[np.ix_(train, train)], y[train])
    return 1 - knn.score(distances[np.ix_(test, train)], y[test])


errors = []
splits = StratifiedShuffleSplit(10, train_size=40, random_state=0)
for train, test in splits.split(X, y):
    learner = gm.SinkhornMetricLearning(
        smoothing=math.inf,
        points=vectors,
        criterion="softmax",
        bin_weights="idf",
        power=1,
        max_steps=200,
    )
    learner.fit(X[train], y[train])
    direct = gm.DiscriminantMetricLearning(vectors, bin_weights="idf")
    direct.fit(X[train], y[train])
    found = {
        "l1": manhattan_distances(X),
        "TF-IDF, cosine": cosine_distances(TfidfTransformer().fit_transform(X)),
        "word mover's": D,
        "learned": learner.pairwise(X),
        "closed form": direct.pairwise(X),
    }
    errors.append([error(each, train, test) for each in found.values()])

mean, spread = np.mean(errors, axis=0), np.std(errors, axis=0, ddof=1)
for name, middle, around in zip(found, mean, spread, strict=True):
    print(f"{name:15s} {middle:.1%} errors, std. dev. {around:.1%}")
better = np.sum(np.array(errors)[:, 3] < np.array(errors)[:, 2])
print(f"learned is better than word mover's in {better} of {len(errors)} splits")
better = np.sum(np.array(errors)[:, 4] < np.array(errors)[:, 3])
print(f"closed form is better than learned in {better} of {len(errors)} splits")

# %%
# The splits share documents, so that their standard deviation is not that of the mean;
# and the vectors were made of all paragraphs, with those of the test documents, though
# of no label.
#
# What was learned
# ----------------
#
# The learner that takes steps also learned weights of words. In the last split, these
# words gained most weight, compared with their inverse document frequency in the
# training documents, and these lost most:

used = (X[train] > 0).sum(axis=0)
frequency = np.log((len(train) + 1) / (used + 1)) + 1
change = np.where(used > 0, learner.bin_weights_ / frequency, np.nan)
order = np.argsort(change)[: np.count_nonzero(used)]
print("more:", ", ".join(words[order[::-1][:10]]))
print("less:", ", ".join(words[order[:10]]))

# %%
# Documents have positions now, which :meth:`~groundmetric.SinkhornMetricLearning.embed`
# returns. Their first two coordinates are a picture of all documents; those without
# labels are small.

_, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
left.barh(list(found), 100 * mean, xerr=100 * spread, color="tab:orange")
left.set_xlabel("errors of 5 nearest neighbors, %")
left.invert_yaxis()
places = PCA(2).fit(learner.embed(X[train])).transform(learner.embed(X))
size = np.where(np.isin(np.arange(len(y)), train), 30, 6)
for module in MODULES:
    own = y == module
    right.scatter(*places[own].T, s=size[own], label=module)
right.legend(fontsize="small")
right.set(xticks=[], yticks=[], title="documents")

# %%
# Next: :class:`~groundmetric.EMDNeighbors` finds the nearest documents, by word mover's
# distances with ``points``, or by the learned ones with the learner as its metric.
# :doc:`/guide/priors` has collections of thousands of documents.
