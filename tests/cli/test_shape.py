"""Shapes are quoted as they were written."""

import numpy as np
import pytest
from samples import csv_of


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("8x8", "--shape is 8x8, that is 64 features, but there are 4."),
        ("2x2X2", "--shape is 2x2X2, that is 8 features, but there are 4."),
        *(
            (text, f"--shape is {text}; rows and columns such as 8x8 are needed")
            for text in ("4", "two", "2x", "0x4", "1x1x2x2", "2 by 2")
        ),
    ],
)
def test_wrong_shapes_are_quoted(text, message, folder, run):
    rows = np.random.default_rng(0).integers(1, 9, (24, 4))
    (folder / "grid.csv").write_text(
        csv_of(rows, ["left", "right"] * 12, "nw,ne,sw,se,kind")
    )
    found = run("report", "grid.csv", "--shape", text)
    assert found.exit_code == 2
    assert found.stderr.startswith(f"error: {message}")
