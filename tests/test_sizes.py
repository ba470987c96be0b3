"""Files that claim to be larger than they are, or become so, are refused unread."""

import tracemalloc
import zipfile

import numpy as np
import pandas as pd
import pytest

from groundmetric import EMDNeighbors, GroundMetricLearning, _files
from groundmetric.datasets._arrays import load_npy, load_npz

MIB = 1 << 20


def header_of(shape, dtype="<f8"):
    """Begin a .npy file."""
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}}}"
    text += " " * (127 - 10 - len(text)) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


@pytest.fixture
def bomb(tmp_path, monkeypatch):
    """Make a few kilobytes that unpack to 64 MiB, where 16 are allowed."""
    monkeypatch.setattr(_files, "UNPACKED", 16 * MIB)
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("header", "X", "y"):
            zeros = bytes(64 * MIB // 3)
            archive.writestr(f"{name}.npy", header_of((len(zeros) // 8,)) + zeros)
    assert path.stat().st_size < MIB
    return path


@pytest.mark.parametrize(
    "read",
    [load_npz, GroundMetricLearning.load, lambda p: _files.read(p, "checkpoint")],
)
def test_a_zip_bomb_is_not_unpacked(bomb, read):
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"bomb.npz unpacks to 0.1 GB; a compressed"):
        read(str(bomb))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < MIB


def test_files_that_are_not_compressed_may_be_of_any_size(tmp_path, monkeypatch):
    monkeypatch.setattr(_files, "UNPACKED", 100)
    np.savez(tmp_path / "large.npz", X=np.arange(1000.0), other=np.array([{}], object))
    assert load_npz(str(tmp_path / "large.npz"))[0].size == 1000


def test_a_header_that_promises_more_than_there_is(tmp_path):
    message = "needs 8000000000000 bytes, but only 8 are left"
    (tmp_path / "a.npy").write_bytes(header_of((10**12,)) + bytes(8))
    with pytest.raises(ValueError, match=message):
        load_npy(str(tmp_path / "a.npy"))
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("X.npy", header_of((10**12,)) + bytes(8))
    with pytest.raises(ValueError, match=f"a.npz has no arrays X and y: .*{message}"):
        load_npz(str(tmp_path / "a.npz"))


def test_frames_with_two_columns_of_one_name():
    frame = pd.DataFrame([[1.0, 2, 3], [3, 2, 1]], columns=["a", "b", "a"])
    for estimator, y in (
        (EMDNeighbors(1 - np.eye(3)), None),
        (GroundMetricLearning(), [0, 1]),
    ):
        with pytest.raises(ValueError, match="X has two columns 'a'"):
            estimator.fit(frame, y)
        assert not hasattr(estimator, "feature_names_in_")


def test_a_model_with_two_bins_of_one_name(tmp_path):
    learner = GroundMetricLearning(max_steps=1).fit(
        [[4, 1], [3, 1], [1, 4], [1, 3]], [0, 0, 1, 1]
    )
    learner.feature_names_in_ = np.array(["a", "a"], dtype=object)
    learner.save(tmp_path / "m.npz")
    with pytest.raises(ValueError, match="two of its bins have the same name"):
        GroundMetricLearning.load(tmp_path / "m.npz")
