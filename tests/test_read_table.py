"""Tables are read in little memory, as they are written, or refused in words."""

import sys
import tracemalloc
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from PIL import Image

from groundmetric import GroundMetricLearning
from groundmetric.datasets import read_table


@pytest.fixture
def arrow():
    """Count what pyarrow takes from now on."""
    kept = pa.default_memory_pool()
    counted = pa.proxy_memory_pool(kept)
    pa.set_memory_pool(counted)
    yield counted
    pa.set_memory_pool(kept)


def test_a_large_file_takes_little_more_than_its_numbers(tmp_path, arrow):
    rows = np.random.default_rng(0).random((10_000, 64))
    lines = [
        ",".join([*map(repr, row), "xy"[int(2 * row[0])]]) for row in rows.tolist()
    ]
    path = tmp_path / "large.csv"
    path.write_text("\n".join([",".join(map(str, range(65))), *lines]))
    del lines
    tracemalloc.start()
    data = read_table(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.array_equal(data.X, rows / rows.sum(axis=1, keepdims=True))
    # The table and X, then X and X of mass 1, and blocks of text that are parsed;
    # a string for each cell is 9 times X.
    assert peak + arrow.max_memory() < 7 * rows.nbytes


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_quotes_marks_and_blanks(tmp_path, end):
    lines = [
        "",
        '"a;1"; "b" ;kind',
        "1;+2;x",
        "   ",
        ";;",
        ' .5 ;"1e0";" y ""z"" "',
        "",
    ]
    path = tmp_path / "odd.csv"
    path.write_bytes(b"\xef\xbb\xbf" + end.join(lines).encode())
    data = read_table(path)
    assert data.names == ("a;1", '"b"')
    assert data.X.tolist() == [[1 / 3, 2 / 3], [1 / 3, 2 / 3]]
    assert data.y.tolist() == ["x", 'y "z"']


def test_numbers_that_come_before_text_are_spelled_as_they_were(tmp_path):
    path = tmp_path / "late.csv"
    path.write_text("a,kind\n1,01\n2,1.0\n3,n/a\n4,b\n5,c\n")
    with pytest.warns(UserWarning, match="label 'n/a' is taken as the name of a class"):
        assert read_table(path).y.tolist() == ["01", "1.0", "n/a", "b", "c"]


def counts(path, names, *columns, n=24):
    """Write a table of counts with columns in front, and labels in halves."""
    bins = np.random.default_rng(1).integers(1, 40, (n, 4))
    rows = np.column_stack([*columns, bins]).tolist()
    lines = [",".join(map(str, [*row, "xy"[2 * i // n]])) for i, row in enumerate(rows)]
    path.write_text("\n".join([",".join([*names, "a,b,c,d,kind"]), *lines]) + "\n")
    return path


def test_a_column_that_leaks_is_refused_in_the_words_of_python(tmp_path):
    path = counts(tmp_path / "t.csv", ["acc", "ID"], np.arange(24) * 7, np.arange(24))
    with pytest.raises(ValueError, match="column 'acc' is not a bin") as found:
        read_table(path)
    assert str(found.value).endswith(
        "in order; take it as ids with id='acc', leave it out with ignore=['acc'], or "
        "use it all the same with "
        "keep=['acc']."
    )
    left = read_table(path, ignore=["acc", 1], keep=None)
    assert left.names == ("a", "b", "c", "d")
    assert left.notes == ("labels: column 'kind', the only text column",)
    assert read_table(path, keep=["acc", "ID"]).X.shape == (24, 6)


def test_a_column_that_may_leak_is_warned_of_where_it_is_read(tmp_path):
    path = counts(tmp_path / "t.csv", ["age"], np.arange(24) % 7 + 30)
    with pytest.warns(UserWarning, match=r"ignore=\['age'\], or confirm") as found:
        read_table(path)
    assert [one.filename for one in found] == [__file__]


WORDS = {
    "label is 'sort', but": {"label": "sort"},
    "label is '9', but": {"label": 9},
    "ignore is 'none', but": {"ignore": "none"},
    "keep is 'kind', which holds labels": {"keep": "kind"},
    "label and ignore both name 'kind'": {"label": "kind", "ignore": ["kind"]},
    "like is 3; a HistogramTable or a fitted learner": {"like": 3},
    "text column to use as labels; name the column of labels with label, or give a "
    "file of labels with labels": {"ignore": "kind"},
    "l.txt has 2 labels for 24 histograms": {"labels": "l.txt"},
}


@pytest.mark.parametrize("message", WORDS)
def test_wrong_uses_name_the_parameter(message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "l.txt").write_text("x\ny\n")
    with pytest.raises(ValueError, match=message):
        read_table(counts(tmp_path / "t.csv", []), **WORDS[message])


def test_parameters_that_would_be_ignored_are_refused(tmp_path):
    np.save(tmp_path / "X.npy", np.eye(3))
    with pytest.raises(
        ValueError, match=r"^header is for CSV and other tables, not .*X"
    ):
        read_table(tmp_path / "X.npy", header=False)
    with pytest.raises(ValueError, match=r"give them with labels='FILE'\.$"):
        read_table(tmp_path / "X.npy")
    (tmp_path / "n.csv").write_text("3,1\n1,2\n")
    with pytest.raises(ValueError, match="header=True if they are the names, or head"):
        read_table(tmp_path / "n.csv")


def test_labels_are_read_if_asked_for(tmp_path):
    path = counts(tmp_path / "t.csv", [])
    assert set(read_table(path, labeled=None).y) == {"x", "y"}
    assert read_table(path, labeled=False).y is None
    np.savez(tmp_path / "t.npz", X=np.eye(3), y=[0.5, np.nan, 1.0])
    with pytest.raises(ValueError, match=r"t.npz: y\[1\] is nan"):
        read_table(tmp_path / "t.npz")
    found = read_table(tmp_path / "t.npz", labeled=None)
    assert found.y is None
    assert found.notes[0].startswith("no labels: ")
    np.save(tmp_path / "y.npy", [1, 2, 1])
    found = read_table(tmp_path / "t.npz", labels=tmp_path / "y.npy")
    assert found.y.tolist() == [1, 2, 1]


def test_bins_of_another_table_or_learner(tmp_path):
    first = read_table(counts(tmp_path / "t.csv", []))
    (tmp_path / "u.csv").write_text("d,extra,a,b,c\n4,9,1,2,3\n")
    second = read_table(tmp_path / "u.csv", like=first, labeled=False)
    assert second.X.tolist() == [[0.1, 0.2, 0.3, 0.4]]
    assert "'extra'" in second.notes[0]
    learner = GroundMetricLearning(max_steps=1)
    learner.fit(pd.DataFrame(first.X, columns=first.names), first.y)
    third = read_table(tmp_path / "u.csv", like=learner, labeled=False)
    assert np.array_equal(third.X, second.X)
    with pytest.raises(ValueError, match=r"5 bins, but the metric has 4; leave col"):
        read_table(tmp_path / "u.csv", like=replace(first, names=None), labeled=False)


def test_histograms_know_their_lines(tmp_path):
    (tmp_path / "t.csv").write_text("\na,b\n\n1,3\n2,2\n\n0,1\n")
    table = read_table(tmp_path / "t.csv", labeled=False)
    assert [table.where(i) for i in range(3)] == ["line 4", "line 5", "line 7"]
    taken = table.take([2, 0])
    assert taken.X.tolist() == [[0.0, 1.0], [0.25, 0.75]]
    assert [taken.where(i) for i in range(2)] == ["line 7", "line 4"]
    np.save(tmp_path / "X.npy", np.eye(4))
    table = read_table(tmp_path / "X.npy", labeled=False)
    assert table.take([3]).where(0) == "row 3"
    assert table.feature_shape == (4,)


def test_a_folder_of_images_is_a_table(tmp_path):
    for name, pixels in (("bars", np.tri(9)), ("steps", np.eye(9))):
        (tmp_path / name).mkdir()
        image = Image.fromarray((200 * pixels).astype(np.uint8))
        image.save(tmp_path / name / "1.png")
    table = read_table(tmp_path, feature="color")
    assert table.y.tolist() == ["bars", "steps"]
    assert [table.where(i) for i in (0, 1)] == ["bars/1.png", "steps/1.png"]
    assert table.names is None
    assert len(table.feature_names) == table.X.shape[1] == np.prod(table.feature_shape)
    (tmp_path / "README.txt").write_text("about these images")
    assert read_table(tmp_path, feature="color").y.tolist() == ["bars", "steps"]
    with pytest.raises(ValueError, match=r"^labels: the subfolders of .* are the lab"):
        read_table(tmp_path, labels="y.txt")


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    (tmp_path / "t.parquet").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'groundmetric\[parquet\]'"):
        read_table(tmp_path / "t.parquet")


@pytest.mark.parametrize("ignored", [np.int64(0), [np.int64(0)], np.array([0])])
def test_columns_may_be_numbered_by_numpy(ignored, tmp_path):
    (tmp_path / "t.csv").write_text("age,a,b,kind\n30,1,2,x\n40,3,1,y\n")
    found = read_table(tmp_path / "t.csv", ignore=ignored)
    assert found.names == ("a", "b")


@pytest.mark.parametrize("name", ["ignore", "keep"])
def test_columns_that_are_neither_names_nor_numbers_are_rejected(tmp_path, name):
    path = tmp_path / "x.csv"
    path.write_text("a,b,kind\n1,2,x\n2,1,y\n")
    with pytest.raises(ValueError, match=rf"^{name} is 6\.5; names of columns"):
        read_table(path, label="kind", **{name: 6.5})


def test_a_header_is_not_the_first_label(tmp_path):
    table, labels = tmp_path / "data.csv", tmp_path / "labels.csv"
    table.write_text("p,q\n1,2\n2,1\n1,4\n4,3\n5,2\n")
    labels.write_text("status\nill\nwell\nill\nwell\n")  # one too few
    with pytest.raises(ValueError, match=r"'status', is unlike all others.* 4 labels"):
        read_table(table, labels=labels)
    labels.write_text("status\nill\nwell\nill\nwell\nill\n")
    assert read_table(table, labels=labels).y.tolist() == ["ill", "well"] * 2 + ["ill"]


def test_text_that_may_name_groups_is_pointed_out(tmp_path):
    table = tmp_path / "data.csv"
    rows = [f"{k % 3 + 1},{k % 5},{'ab'[k % 2]},s{k // 2}" for k in range(8)]
    table.write_text("p,q,y,patient\n" + "\n".join(rows))
    (note,) = (x for x in read_table(table, label="y").notes if "left out" in x)
    assert "keep their rows together with groups='patient'" in note
    table.write_text("p,q,y,site\n" + "\n".join(x[:-2] + "one" for x in rows))
    (note,) = (x for x in read_table(table, label="y").notes if "left out" in x)
    assert note.endswith("'site', which is text")
