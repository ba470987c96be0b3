"""
Topics, with and without a prior metric
=======================================

Documents are often described by their shares of latent topics. Topics do not come with
a metric, so where does the earth mover's distance get one? It can be built from the
words that topics use, learned from labels, or learned starting from the words.

The documents here are **synthetic**: words are drawn at random from small vocabularies.
This keeps the example short, and we know which topics belong together.
"""

# %%
# There are two classes of documents, *science* and *sports*, with three themes each.
# Half of the words of a document come from any theme, and a fifth are small talk. Only
# the rest come from the themes of its class.

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.distance import pdist, squareform
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier

import groundmetric as gm
from groundmetric import distances
from groundmetric.features import TopicHistograms
from groundmetric.plotting import MetricDisplay

THEMES = {
    "space": "orbit rocket planet moon star telescope launch comet",
    "medicine": "patient doctor trial vaccine virus therapy dose symptom",
    "computing": "software compiler memory kernel network algorithm chip byte",
    "hockey": "puck goalie rink skate playoff defenseman faceoff stick",
    "baseball": "pitcher inning bat homer catcher bullpen base umpire",
    "cycling": "bike sprint climb peloton stage wheel pedal helmet",
}
SCIENCE, SPORTS = list(THEMES)[:3], list(THEMES)[3:]
SMALL_TALK = "today people good long week talk news place idea story"
rng = np.random.default_rng(0)


def document(themes):
    """Draw 30 words: some from any theme, some small talk, some from these."""
    shares = rng.dirichlet(np.ones(len(themes)))
    words = []
    for kind in rng.choice(["any", "talk", "these"], 30, p=[0.5, 0.2, 0.3]):
        theme = rng.choice(themes, p=shares)
        if kind == "any":
            theme = rng.choice(list(THEMES))
        source = SMALL_TALK if kind == "talk" else THEMES[theme]
        words.append(rng.choice(source.split()))
    return " ".join(words)


documents = [document(themes) for themes in (SCIENCE, SPORTS) for _ in range(150)]
labels = np.repeat(["science", "sports"], 150)
print(documents[0])
print(documents[-1])

# %%
# Topics are learned from all documents, without labels. There are twice as many topics
# as themes, so several topics cover the same theme. Each is named after its two most
# probable words.

topics = TopicHistograms(n_topics=12, random_state=0, max_iter=30).fit(documents)
X = topics.transform(documents)
words = topics.vectorizer_.get_feature_names_out()
names = [" ".join(words[row.argsort()[::-1][:2]]) for row in topics.topics_]

# %%
# For a *prior* metric, let topics be far apart if they use different words. This needs
# no labels, and any matrix that obeys the triangle inequality will do. We take the
# Hellinger distance between topics.

prior = squareform(pdist(np.sqrt(topics.topics_)))

# %%
# We learn one metric starting from the uniform metric and one starting from the prior.
# There are twenty training documents per class; all others are classified. We average
# over ten random splits, since single splits vary more than the distances do.


def error(distance, train, test):
    """Classify the test documents by their distances to the training documents."""
    knn = KNeighborsClassifier(n_neighbors=3, metric="precomputed")
    knn.fit(distance(X[train], X[train]), labels[train])
    return 1 - knn.score(distance(X[test], X[train]), labels[test])


errors = []
splits = StratifiedShuffleSplit(n_splits=10, train_size=40, random_state=0)
for train, test in splits.split(X, labels):
    learned = gm.GroundMetricLearning().fit(X[train], labels[train])
    both = gm.GroundMetricLearning(init=prior).fit(X[train], labels[train])
    found = {
        "l1": distances.l1,
        "EMD, prior metric": lambda a, b: gm.pairwise_emd(a, b, metric=prior),
        "EMD, learned": learned.pairwise,
        "EMD, learned from the prior": both.pairwise,
    }
    errors.append([error(distance, train, test) for distance in found.values()])

mean = np.mean(errors, axis=0)
spread = np.std(errors, axis=0, ddof=1) / np.sqrt(len(errors))
for name, middle, around in zip(found, mean, spread, strict=True):
    print(f"{name:28s} {middle:.1%} +- {around:.1%}")

# %%
# This is the metric learned in the last split. The prior knows which topics share
# words; the labels add which topics separate the classes.

_, axes = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
MetricDisplay.from_metric(prior, names=names).plot(axes[0])
MetricDisplay.from_estimator(both, names=names).plot(axes[1])
axes[0].set_title("prior")
axes[1].set_title("learned from the prior")
