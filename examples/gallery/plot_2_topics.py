"""
Topics, with and without a prior metric
=======================================

Documents are often described by their shares of latent topics. No metric between topics
comes with them, and so the earth mover's distance could not be used. One can be made
from what topics are about, or it can be learned, from nothing or from that.

The documents here are **synthetic**: words are drawn at random from small vocabularies.
That keeps the example honest and short: we know which topics belong together.
"""

# %%
# Two classes of documents, *science* and *sports*, each with three themes. Half of the
# words of a document stray to any theme, and a fifth are small talk: only the rest are
# about the themes of its class.

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
# Topics are learned from all documents, without their labels: twice as many as there
# are themes, so that several are about the same. Each is named after its first words.

topics = TopicHistograms(n_topics=12, random_state=0, max_iter=30).fit(documents)
X = topics.transform(documents)
words = topics.vectorizer_.get_feature_names_out()
names = [" ".join(words[row.argsort()[::-1][:2]]) for row in topics.topics_]

# %%
# A *prior* metric: topics are far apart if they use different words. It needs no
# labels, and any matrix will do that obeys the triangle inequality. The Hellinger
# distance between topics is one.

prior = squareform(pdist(np.sqrt(topics.topics_)))

# %%
# What is learned begins with the uniform metric, or with the prior. Twenty documents of
# each class to learn from, all others to be classified, in ten random splits: single
# splits differ by more than the distances do.


def error(distance, train, test):
    """Classify the other documents by distances to those learned from."""
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
# What was learned in the last of them. The prior knows which topics share words; the
# labels say which topics the classes do not share.

_, axes = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
MetricDisplay.from_metric(prior, names=names).plot(axes[0])
MetricDisplay.from_estimator(both, names=names).plot(axes[1])
axes[0].set_title("prior")
axes[1].set_title("learned from the prior")
