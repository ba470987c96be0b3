"""CSV is read in little memory, and as it is written."""

import tracemalloc

import numpy as np
import pyarrow as pa
import pytest

from groundmetric.cli._data import Source, read_labeled


@pytest.fixture
def arrow():
    """Count what pyarrow takes from now on."""
    kept = pa.default_memory_pool()
    counted = pa.proxy_memory_pool(kept)
    pa.set_memory_pool(counted)
    yield counted
    pa.set_memory_pool(kept)


def test_a_large_file_takes_little_more_than_its_numbers(tmp_path, arrow):
    rows = np.random.default_rng(0).random((20_000, 64))
    lines = [
        ",".join([*map(repr, row), "xy"[int(2 * row[0])]]) for row in rows.tolist()
    ]
    path = tmp_path / "large.csv"
    path.write_text("\n".join([",".join(map(str, range(65))), *lines]))
    del lines
    tracemalloc.start()
    data = read_labeled(Source(str(path)))
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
    data = read_labeled(Source(str(path)))
    assert data.names == ["a;1", '"b"']
    assert data.X.tolist() == [[1 / 3, 2 / 3], [1 / 3, 2 / 3]]
    assert data.y.tolist() == ["x", 'y "z"']


def test_numbers_that_come_before_text_are_spelled_as_they_were(tmp_path):
    path = tmp_path / "late.csv"
    path.write_text("a,kind\n1,01\n2,1.0\n3,n/a\n4,b\n5,c\n")
    assert read_labeled(Source(str(path))).y.tolist() == ["01", "1.0", "n/a", "b", "c"]
