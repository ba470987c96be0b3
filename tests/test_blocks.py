"""Distances block by block: into files, condensed, and after a kill."""

import re
import signal
import subprocess
import sys

import numpy as np
import pytest
from scipy.spatial.distance import cdist, squareform

import groundmetric as gm
from groundmetric.transport import _blocks, _outputs, _pairs

N_BINS = 12


@pytest.fixture
def data():
    """Make 23 histograms, 9 others and a metric; a block is 5 x 5."""
    rng = np.random.default_rng(0)
    X, Y = (rng.gamma(1.0, size=(n, N_BINS)) for n in (23, 9))
    X, Y = (A / A.sum(axis=1, keepdims=True) for A in (X, Y))
    points = rng.normal(size=(N_BINS, 2))
    return X, Y, points


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(_blocks, "BLOCK", 5)


@pytest.fixture
def n_solved(monkeypatch):
    """Count the blocks that are solved."""
    counted = []
    solve = _pairs.DensePairs.solve

    def counting(self, rows, *rest):
        counted.append(rows)
        return solve(self, rows, *rest)

    monkeypatch.setattr(_pairs.DensePairs, "solve", counting)
    return counted


@pytest.mark.parametrize("kind", ["metric", "points", "asymmetric"])
@pytest.mark.parametrize("with_y", [False, True])
def test_blocks_give_the_same_bits(data, tmp_path, kind, with_y):
    X, Y, points = data
    Y = Y if with_y else None
    given = {"metric": cdist(points, points)}
    if kind == "asymmetric":
        given["metric"][0, 1] += 1.0
    elif kind == "points":
        given = {"points": points}
    expected = gm.pairwise_emd(X, Y, **given)
    found = gm.pairwise_emd(X, Y, **given, out=tmp_path / "out.npy", n_jobs=2)
    assert isinstance(found, np.memmap)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), expected)
    assert [path.name for path in tmp_path.iterdir()] == ["out.npy"]
    own = np.empty(expected.shape, np.float32)
    assert gm.pairwise_emd(X, Y, **given, out=own) is own
    np.testing.assert_array_equal(own, expected.astype(np.float32))
    single = gm.pairwise_emd(X, Y, **given, dtype="float32")
    np.testing.assert_array_equal(single, own)
    assert single.dtype == np.float32


def test_condensed_as_in_scipy(data, tmp_path):
    X, _, points = data
    metric = cdist(points, points)
    expected = squareform(gm.pairwise_emd(X, metric=metric), checks=False)
    found = gm.pairwise_emd(X, metric=metric, condensed=True)
    np.testing.assert_array_equal(found, expected)
    out = tmp_path / "out.npy"
    gm.pairwise_emd(X, metric=metric, condensed=True, out=out, dtype="float32")
    np.testing.assert_array_equal(np.load(out), expected.astype(np.float32))
    assert gm.pairwise_emd(X[:1], metric=metric, condensed=True).shape == (0,)


KILLED = """
import os, signal, sys
import numpy as np
import groundmetric as gm
from groundmetric.transport import _blocks, _pairs

_blocks.BLOCK = 5
solve, n_solved = _pairs.DensePairs.solve, 0

def lethal(self, *args):
    global n_solved
    n_solved += 1
    if n_solved > 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return solve(self, *args)

_pairs.DensePairs.solve = lethal
data = np.load(sys.argv[1])
out = np.lib.format.open_memmap(sys.argv[2]) if sys.argv[3] == "memmap" else sys.argv[2]
gm.pairwise_emd(data["X"], metric=data["metric"], out=out)
"""


@pytest.mark.parametrize("kind", ["path", "memmap"])
def test_a_killed_computation_goes_on(data, tmp_path, kind, n_solved):
    X, _, points = data
    metric, out = cdist(points, points), tmp_path / "out.npy"
    np.savez(tmp_path / "data.npz", X=X, metric=metric)
    if kind == "memmap":
        np.save(out, np.zeros((23, 23)))
    arguments = [str(tmp_path / "data.npz"), str(out), kind]
    child = subprocess.run([sys.executable, "-c", KILLED, *arguments], check=False)
    assert child.returncode == -signal.SIGKILL
    assert (tmp_path / "out.npy.blocks").exists()
    target = np.lib.format.open_memmap(out) if kind == "memmap" else out
    # Other inputs cannot resume from these.
    with pytest.raises(ValueError, match="unfinished computation with other inputs"):
        gm.pairwise_emd(X[::-1], metric=metric, out=target)
    found = gm.pairwise_emd(X, metric=metric, out=target)
    assert len(n_solved) == 15 - 7  # of 5 + 4 + 3 + 2 + 1 blocks
    np.testing.assert_array_equal(found, gm.pairwise_emd(X, metric=metric))
    assert not (tmp_path / "out.npy.blocks").exists()


def cut_short(X, given, path, monkeypatch):
    """Stop after three blocks."""

    def finish(self, block, checksum, _finish=_outputs.FileOutput.finish):
        _finish(self, block, checksum)
        if np.count_nonzero(self.sums) == 3:
            raise InterruptedError

    with monkeypatch.context() as patch:
        patch.setattr(_outputs.FileOutput, "finish", finish)
        with pytest.raises(InterruptedError):
            gm.pairwise_emd(X, **given, out=path)


def test_marks_that_are_cut_short_are_not_trusted(data, tmp_path, monkeypatch):
    X, _, points = data
    path, marks = tmp_path / "out.npy", tmp_path / "out.npy.blocks"
    given = {"metric": cdist(points, points)}
    cut_short(X, given, path, monkeypatch)
    marks.write_bytes(marks.read_bytes()[:-2])
    with pytest.raises(ValueError, match="90 bytes instead of 92; remove it"):
        gm.pairwise_emd(X, **given, out=path)
    marks.unlink()
    found = gm.pairwise_emd(X, **given, out=path)
    np.testing.assert_array_equal(found, gm.pairwise_emd(X, **given))


def test_other_functions_between_points_are_other_inputs(data, tmp_path, monkeypatch):
    X, _, points = data
    path = tmp_path / "out.npy"
    once, twice = (
        {"points": points, "metric": lambda p, q, scale=scale: scale * cdist(p, q)}
        for scale in (1.0, 2.0)
    )
    cut_short(X, once, path, monkeypatch)
    with pytest.raises(ValueError, match="unfinished computation with other inputs"):
        gm.pairwise_emd(X, **twice, out=path)


def test_a_memory_map_that_is_made_anew_starts_anew(data, tmp_path, monkeypatch):
    X, _, points = data
    given, path = {"metric": cdist(points, points)}, tmp_path / "out.npy"
    cut_short(X, given, path, monkeypatch)
    again = np.lib.format.open_memmap(path, "w+", np.float64, (len(X), len(X)))
    found = gm.pairwise_emd(X, **given, out=again)
    np.testing.assert_array_equal(found, gm.pairwise_emd(X, **given))


def test_distances_do_not_overwrite_what_they_depend_on(data):
    X = data[0][:N_BINS].copy()
    with pytest.raises(ValueError, match="out shares memory with the inputs"):
        gm.pairwise_emd(X, metric=1.0 - np.eye(N_BINS), out=X)


def test_single_precision_has_its_own_range(data, tmp_path):
    X, _, points = data
    given = {"points": 1e60 * points, "dtype": "float32"}
    with pytest.raises(ValueError, match="exceed the range of single precision"):
        gm.pairwise_emd(X, **given, out=tmp_path / "out.npy")


def test_a_finished_file_is_written_anew(data, tmp_path, n_solved):
    X, Y, points = data
    metric, out = cdist(points, points), tmp_path / "out.npy"
    gm.pairwise_emd(X, metric=metric, out=out)
    n_solved.clear()
    found = gm.pairwise_emd(Y, metric=2 * metric, out=out)
    assert len(n_solved) == 3
    np.testing.assert_array_equal(found, gm.pairwise_emd(Y, metric=2 * metric))
    # Marks without their file count for nothing.
    (tmp_path / "out.npy.blocks").write_bytes(bytes(32 + 3))
    out.unlink()
    np.testing.assert_array_equal(gm.pairwise_emd(Y, metric=metric, out=out), found / 2)


class Stored:
    """What zarr's arrays have in common with this."""

    def __init__(self, shape):
        self.values, self.attrs = np.zeros(shape), {}
        self.shape, self.dtype = shape, self.values.dtype

    def __setitem__(self, where, values):
        self.values[where] = values

    def __getitem__(self, where):
        return self.values[where]


@pytest.mark.parametrize("real", [False, True])
def test_zarr_arrays_keep_the_blocks_in_their_attributes(
    data, tmp_path, real, monkeypatch
):
    if real:
        zarr = pytest.importorskip("zarr", reason="zarr is not installed")
        path = str(tmp_path / "out.zarr")
        out = zarr.open(path, mode="w", shape=(23, 23), chunks=(7, 7), dtype="f8")
    else:
        monkeypatch.setattr(Stored, "__module__", "zarr.core")
        out = Stored((23, 23))
    X, _, points = data
    metric = cdist(points, points)
    solve, n_solved = _pairs.DensePairs.solve, []

    def failing(self, *args):
        n_solved.append(1)
        if len(n_solved) == 8:
            raise KeyboardInterrupt
        return solve(self, *args)

    monkeypatch.setattr(_pairs.DensePairs, "solve", failing)
    with pytest.raises(KeyboardInterrupt):
        gm.pairwise_emd(X, metric=metric, out=out)
    with pytest.raises(ValueError, match="unfinished computation with other inputs"):
        gm.pairwise_emd(X, metric=2 * metric, out=out)
    assert gm.pairwise_emd(X, metric=metric, out=out) is out
    assert len(n_solved) == 15 + 1
    values = out[:] if real else out.values
    np.testing.assert_array_equal(values, gm.pairwise_emd(X, metric=metric))
    assert dict(out.attrs) == {}


def test_progress_counts_the_pairs_that_are_left(data, tmp_path, capsys):
    X, Y, points = data
    out = tmp_path / "out.npy"
    gm.pairwise_emd(X, Y, metric=cdist(points, points), out=out, verbose=1)
    assert f"{23 * 9}/{23 * 9}" in capsys.readouterr().err


def read_only(shape):
    out = np.zeros(shape)
    out.setflags(write=False)
    return out


@pytest.mark.parametrize(
    ("message", "options"),
    [
        ("a path must end with .npy", {"out": "distances.bin"}),
        ("there is no folder nowhere", {"out": "nowhere/distances.npy"}),
        ("out has shape (2, 2), but (23, 9) is needed", {"out": np.zeros((2, 2))}),
        ("out has shape (), but (23, 9) is needed", {"out": 3}),
        ("out.dtype is 'int64'", {"out": np.zeros((23, 9), np.int64)}),
        ("out is read-only", {"out": read_only((23, 9))}),
        (
            "out holds float64, but dtype is 'float32'",
            {"out": np.zeros((23, 9)), "dtype": "float32"},
        ),
        ("dtype is 'float16'", {"dtype": "float16"}),
        ("condensed is True, but distances are symmetric only", {"condensed": True}),
    ],
)
def test_bad_input_in_a_sentence(data, message, options):
    X, Y, points = data
    with pytest.raises(ValueError, match=re.escape(message)):
        gm.pairwise_emd(X, Y, metric=cdist(points, points), **options)
