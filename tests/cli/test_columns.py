"""Columns are taken for what they are, or refused."""

import pandas as pd
from samples import X, Y

from groundmetric import GroundMetricLearning

NAMES = list("abc")


def test_the_index_of_a_frame_is_no_bin(folder, run):
    frame = pd.DataFrame(X, columns=NAMES).assign(kind=Y)
    frame.sample(frac=1, random_state=0).to_parquet(folder / "rows.parquet")
    found = run("fit", "rows.parquet", "--max-outer", "1")
    assert found.stderr.startswith("left out: the index, '__index_level_0__'\n")
    model = GroundMetricLearning.load("model.npz")
    assert model.feature_names_in_.tolist() == NAMES
