"""Means and barycenters of handwritten digits that are not in the same place."""

import matplotlib.pyplot as plt
import numpy as np

import groundmetric as gm
from groundmetric.datasets import load_digits_histograms

# Each image at a random place in a frame of 14 x 14 pixels.
digits, rng = load_digits_histograms([0, 3, 5]), np.random.default_rng(0)
side, rows, labels = 14, [], []
for label in np.unique(digits.y):
    for image in digits.X[digits.y == label][::7][:25].reshape(-1, 8, 8):
        frame = np.zeros((side, side))
        top, left = rng.integers(0, side - 8, 2, endpoint=True)
        frame[top : top + 8, left : left + 8] = image
        rows.append(frame.ravel())
        labels.append(label)
X, y = np.array(rows), np.array(labels)

pixels = np.indices((side, side)).reshape(2, -1).T
metric = np.square(pixels[:, None] - pixels).sum(axis=2)
members = np.unique(y)[:, None] == y
titles = ("some of them", "mean", "smoothing 1", "smoothing 0.1", "smoothing 0.01")
columns = [
    X[::25],
    gm.barycenter(X, metric, members, np.inf),
    *(gm.barycenter(X, metric, members, rho, tol=1e-3) for rho in (1, 0.1, 0.01)),
]
_, axes = plt.subplots(3, 5, figsize=(7.5, 4.8), layout="constrained")
for title, images, column in zip(titles, columns, axes.T, strict=True):
    column[0].set_title(title, size=10)
    for image, ax in zip(images, column, strict=True):
        ax.imshow(image.reshape(side, side), cmap="Greys")
        ax.set(xticks=[], yticks=[])
