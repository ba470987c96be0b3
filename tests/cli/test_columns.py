"""Columns are taken for what they are, or refused."""

import pandas as pd
from samples import X, Y, csv_of

from groundmetric import GroundMetricLearning

NAMES = list("abc")


def test_the_index_of_a_frame_is_no_bin(folder, run):
    frame = pd.DataFrame(X, columns=NAMES).assign(kind=Y)
    frame.sample(frac=1, random_state=0).to_parquet(folder / "rows.parquet")
    found = run("fit", "rows.parquet", "--max-outer", "1")
    assert found.stderr.startswith("left out: the index, '__index_level_0__'\n")
    model = GroundMetricLearning.load("model.npz")
    assert model.feature_names_in_.tolist() == NAMES


def test_the_test_histograms_may_have_their_columns_in_another_order(folder, run):
    (folder / "same.csv").write_text(csv_of(X[::2], Y[::2]))
    (folder / "turned.csv").write_text(csv_of(X[::2, ::-1], Y[::2], "c,b,a,kind"))
    pages = []
    for test in ("same.csv", "turned.csv"):
        assert run("report", "data.csv", "--test", test).exit_code == 0
        page = (folder / "report.html").read_text(encoding="utf-8")
        pages.append(page.split("time to learn")[0])
    assert pages[0] == pages[1]
    (folder / "other.csv").write_text(csv_of(X, Y, "a,b,d,kind"))
    found = run("report", "data.csv", "--test", "other.csv")
    assert found.exit_code == 2
    assert found.stderr == ("error: other.csv has no column 'c', which data.csv has.\n")


def test_queries_may_have_their_columns_in_another_order(folder, run):
    (folder / "base.csv").write_text("a,b,c\n1,0,0\n0,0,1\n")
    line = ["distances", "base.csv", "--metric", "line.npy", "--queries", "-"]
    # All mass in bin a, then all in bin b.
    found = run(*line, input="c,b,a\n0,0,1\n0,1,0\n")
    assert found.stdout == "0,2\n1,1\n"
