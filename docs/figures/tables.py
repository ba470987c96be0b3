"""An optimal plan, and two tables from the middle of the set of all plans."""

import math

import matplotlib.pyplot as plt
import numpy as np

import groundmetric as gm

bins = np.arange(12)
line = np.abs(bins - bins[:, None]).astype(float)
r = np.array([1, 2, 5, 7, 5, 3, 2, 1, 1, 1, 1, 1]) / 30
c = np.array([1, 1, 1, 2, 2, 2, 2, 3, 5, 5, 4, 2]) / 30
tables = {
    "optimal plan": gm.transport(r, c, line).plan,
    "independence table": gm.independence_table(r, c),
    "typical table, total inf": gm.typical_table(r, c, total=math.inf),
}
_, axes = plt.subplots(1, 3, figsize=(9, 3.1))
for ax, (name, table) in zip(axes, tables.items(), strict=True):
    ax.imshow(np.sqrt(table), cmap="Greys", vmin=0)
    ax.set(title=name, xticks=[], yticks=[])
