"""Small data."""

import numpy as np

# Two classes of four histograms on three bins.
X = np.array(
    [
        *([4, 1, 1], [3, 2, 1], [4, 2, 0], [3, 1, 1]),
        *([1, 1, 4], [1, 2, 3], [0, 2, 4], [1, 1, 3]),
    ]
)
Y = np.repeat(["left", "right"], 4)
LINE = np.array([[0, 1, 2], [1, 0, 1], [2, 1, 0]])


def csv_of(rows, labels, names="a,b,c,kind"):
    lines = [
        ",".join([*map(str, row), str(label)])
        for row, label in zip(rows, labels, strict=True)
    ]
    return "\n".join([names, *lines]) + "\n"
