"""Damaged files: a reader returns, or says in a ValueError or OSError what is wrong.

``python tests/test_fuzz_readers.py SECONDS`` tries random damage for that long.
"""

import gzip
import io
import random
import sys
import tempfile
import time
import warnings
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import groundmetric as gm
from groundmetric.base._model import load_model
from groundmetric.datasets import read_table
from groundmetric.datasets._label_file import load_labels
from groundmetric.datasets._matrix import load_matrix
from groundmetric.datasets._vectors import load_vectors
from test_formats import as_excel

try:
    import pyarrow as pa
    from pyarrow import parquet as pq
except ImportError:
    pq = None
try:
    import openpyxl
except ImportError:
    openpyxl = None

CORPUS = Path(__file__).parent.parent / "fuzz" / "corpus_readers"
EXPECTED = (ValueError, OSError)
TOKENS = (
    *(b"", b",", b"\n", b'"', b"\0", b"nan", b"inf", b"-1", b"1e999", b"\xff\xfe"),
    *(b"PK\x03\x04", b"\x93NUMPY", b"PAR1", b"'descr'", b"{", b"(9999999999,)"),
    *(b"|O", b"<U9", b'"version": 1', b'"estimator"', b"\x7f\xff\xff\xff"),
)


def data():
    """Return eight histograms of four bins, in two classes."""
    rng = np.random.default_rng(1)
    return rng.dirichlet(np.ones(4), 8), np.repeat([0, 1], 4)


def learner(**options):
    return gm.GroundMetricLearning(max_steps=4, **options)


def fit_from(path):
    """Resume a fit from the checkpoint."""
    learner(callbacks=[gm.Checkpoint(path)]).fit(*data())


# Not .h5ad: the HDF5 library may wait forever for a damaged file.
READERS = {
    ".csv": read_table,
    ".csv.gz": read_table,
    ".turned.csv": lambda path: read_table(path, transpose=True, missing="drop"),
    ".xlsx": read_table,
    ".vectors.txt": lambda path: load_vectors(path, {"ball", "goal", "a b", "\ufffd"}),
    ".npy": lambda path: load_matrix(str(path)),
    ".npz": read_table,
    ".parquet": read_table,
    ".matrix.csv": lambda path: load_matrix(str(path)),
    ".labels.txt": lambda path: load_labels(path, []),
    ".model.npz": load_model,
    ".checkpoint": fit_from,
}


def sound_files(folder):
    """Write one sound file for each reader, and return their bytes."""
    X, y = data()
    csv = "a,b,c,d,label\n" + "".join(
        ",".join(f"{x:.3f}" for x in row) + f",{'uv'[k]}\n"
        for row, k in zip(X, y, strict=True)
    )
    decimals = csv.replace(",", ";").replace(".", ",")
    turned = ["\t".join(row) for row in zip(*(x.split(";") for x in decimals.split()))]  # noqa: B905
    files = {
        ".csv": csv.encode(),
        ".csv.gz": gzip.compress(decimals.encode("utf-16")),
        ".turned.csv": "\n".join(turned).encode(),
        ".vectors.txt": b"3 2\nball 1 2\ngoal 0.5 -1\na b 1e3 4\n",
        ".matrix.csv": b",a,b\na,0,1.5\nb,1.5,0\n",
        ".labels.txt": b"u\nv\nu\n",
        ".npy": written(np.save, X @ X.T),
        ".npz": written(np.savez, X=X, y=y),
    }
    model = folder / "sound.npz"
    learner().fit(X, y).save(model)
    files[".model.npz"] = model.read_bytes()
    files[".checkpoint"] = checkpoint_of(X, y, folder / "sound.checkpoint")
    if openpyxl is not None:
        as_excel(folder / "sound.xlsx")
        files[".xlsx"] = (folder / "sound.xlsx").read_bytes()
    if pq is None:
        return files
    table = pa.table(
        {**{f"b{j}": X[:, j] for j in range(4)}, "label": np.array(["u", "v"])[y]}
    )
    pq.write_table(table, folder / "sound.parquet")
    files[".parquet"] = (folder / "sound.parquet").read_bytes()
    return files


def written(write, *arrays, **named):
    file = io.BytesIO()
    write(file, *arrays, **named)
    return file.getvalue()


def checkpoint_of(X, y, path):
    """Interrupt a fit, and return the checkpoint that it leaves."""
    calls = []

    def stop(*_):
        calls.append(None)
        if len(calls) > 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learner(callbacks=[stop, gm.Checkpoint(path)]).fit(X, y)
    return path.read_bytes()


def damaged(content, damage):
    """Apply (kind, where, what) to the bytes, one after the other."""
    for kind, where, what in damage:
        at = where % (len(content) + 1)
        if kind == 0:  # truncated
            content = content[:at]
        elif kind == 1 and at < len(content):  # one bit flipped
            content = (
                content[:at]
                + bytes([content[at] ^ (1 << what % 8)])
                + content[at + 1 :]
            )
        elif kind == 2:  # a token inserted
            content = content[:at] + TOKENS[what % len(TOKENS)] + content[at:]
        elif kind == 3:  # a part cut out
            content = content[:at] + content[at + what % 64 :]
        else:  # a part repeated
            content = content[:at] + content[max(0, at - what % 64) :]
    return content


def read(suffix, content, folder):
    """Return whether the reader takes the content; anything unexpected is raised."""
    path = folder / f"damaged{suffix}"
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            READERS[suffix](path)
        except EXPECTED:
            return False
        finally:
            path.unlink(missing_ok=True)
    return True


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("readers")


@pytest.fixture(scope="module")
def sound(folder):
    return sound_files(folder)


@pytest.mark.parametrize("suffix", READERS)
def test_sound_files_are_read(suffix, sound, folder):
    if suffix not in sound:
        pytest.skip(f"what writes {suffix} is not installed")
    assert read(suffix, sound[suffix], folder)


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*")), ids=lambda path: path.name)
def test_files_that_were_once_trouble(path, folder):
    suffix = path.name[path.name.index(".") :]
    needed = {".parquet": "pyarrow", ".xlsx": "openpyxl"}
    if suffix in needed:
        pytest.importorskip(needed[suffix])
    assert read(suffix, path.read_bytes(), folder) in (True, False)


DAMAGE = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 1 << 20), st.integers(0, 1 << 10)),
    min_size=1,
    max_size=6,
)


@pytest.mark.parametrize("suffix", READERS)
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(damage=DAMAGE)
def test_damaged_files_are_read_or_refused_in_words(suffix, damage, sound, folder):
    if suffix not in sound:
        pytest.skip(f"what writes {suffix} is not installed")
    content = damaged(sound[suffix], damage)
    assert read(suffix, content, folder) in (True, False)


def main(seconds):
    """Damage files at random; keep those that raise something unexpected."""
    rng = random.Random(int(time.time()))  # noqa: S311 - no secret
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sound = sound_files(folder)
        counts = dict.fromkeys(sound, 0)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            suffix = rng.choice(list(sound))
            damage = [
                (rng.randrange(5), rng.randrange(1 << 20), rng.randrange(1 << 10))
                for _ in range(rng.randint(1, 6))
            ]
            content = damaged(sound[suffix], damage)
            counts[suffix] += 1
            try:
                read(suffix, content, folder)
            except Exception as error:  # noqa: BLE001 - what is looked for
                kept = CORPUS / f"{zlib.crc32(content):08x}{suffix}"
                kept.parent.mkdir(exist_ok=True)
                kept.write_bytes(content)
                sys.stdout.write(f"{kept.name}: {type(error).__name__}: {error}\n")
        sys.stdout.write(f"{sum(counts.values())} files in {seconds} s: {counts}\n")


if __name__ == "__main__":
    main(float(sys.argv[1]))
