"""
Our neighbors in scikit-learn's estimators
==========================================

scikit-learn's estimators that work with neighbors accept a precomputed sparse graph.
:class:`~groundmetric.EMDNeighbors` computes it, so ``NearestNeighbors``,
``KNeighborsClassifier``, ``Isomap`` or ``DBSCAN`` run on earth mover's distances that
were computed once.
"""

# %%
# Digits again, with a learned metric: 100 images have labels.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.manifold import Isomap
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.pipeline import make_pipeline

import groundmetric as gm
from groundmetric.datasets import load_digits_histograms

digits = load_digits_histograms([3, 5, 8])
X, X_test, y, y_test = train_test_split(
    digits.X, digits.y, train_size=100, stratify=digits.y, random_state=0
)
learner = gm.GroundMetricLearning().fit(X, y)

# %%
# A graph of distances to the nearest histograms, and scikit-learn's
# ``NearestNeighbors`` on it:

search = gm.EMDNeighbors(learner, n_neighbors=15).fit(X)
graph = search.transform(X_test)
print(repr(graph))

nearest = NearestNeighbors(n_neighbors=5, metric="precomputed")
nearest.fit(search.transform(X))
far, indices = nearest.kneighbors(graph)
print("same neighbors:", np.array_equal(indices, search.kneighbors(X_test, 5)[1]))

# %%
# In a pipeline, the graph is computed once, and a grid search tries all numbers of
# neighbors on it.

pipeline = make_pipeline(
    gm.EMDNeighbors(learner, n_neighbors=15),
    KNeighborsClassifier(metric="precomputed"),
)
grid = {"kneighborsclassifier__n_neighbors": [1, 3, 5, 9, 15]}
chosen = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
print(chosen.best_params_, f"{1 - chosen.score(X_test, y_test):.1%} errors")

# %%
# Isomap unrolls the graph: images that are connected by short steps come close.

isomap = make_pipeline(
    gm.EMDNeighbors(learner, n_neighbors=10),
    Isomap(n_neighbors=10, metric="precomputed"),
)
places = isomap.fit_transform(digits.X)
_, ax = plt.subplots(figsize=(6, 4.5), layout="constrained")
for digit in (3, 5, 8):
    ax.scatter(*places[digits.y == digit].T, s=8, label=str(digit))
ax.legend(title="digit")
ax.set(xlabel="first coordinate", ylabel="second coordinate")
