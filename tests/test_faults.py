"""Signals, full and read-only disks, damaged files, clocks and workers that die.

Each with real processes and files, where that is possible: nothing that was reported as
saved is lost, nothing half-written is read as whole, and the console has one line.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import joblib
import numpy as np
import pytest

import groundmetric as gm
import interrupted
import paper
from groundmetric import _files
from groundmetric.experiments import METHODS, Method
from groundmetric.transport import _blocks, _outputs
from paper import ResultsFile, Row, binary_tasks, read_results, run
from started import SCRIPT, finished, python

LINUX = sys.platform == "linux"
N = 150  # histograms: more than one block of distances


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Histograms, labels and a metric, in a file that other processes read."""
    rng = np.random.default_rng(0)
    X = rng.gamma(1.0, size=(N, 6))
    y = np.arange(N) % 2
    X[y == 1, :2] += 1.0
    metric = np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0)))
    path = tmp_path_factory.mktemp("faults") / "data.npz"
    X /= X.sum(axis=1, keepdims=True)
    np.savez(path, X=X, y=y, metric=metric)
    return path


def python_on(disk, code, *arguments):
    """Start another Python after a command that mounts a disk for it alone."""
    line = [sys.executable, "-c", code, *map(str, arguments)]
    line = ["unshare", "-m", "sh", "-c", f'{disk} && exec "$@"', "sh", *line]
    there = {**os.environ, "PYTHONPATH": str(Path(paper.__file__).parents[1])}
    return subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=there
    )


# --- signals

WORK = {
    # Saves one model after the other, and reports each when it is saved.
    "save": """
model = gm.GroundMetricLearning(max_steps=2).fit(X[:20], y[:20])
for k in range(10_000):
    model.random_state = k
    model.save(sys.argv[2])
    print(k, flush=True)
""",
    # Reports each block when it is finished.
    "out": """
from groundmetric.transport import _blocks, _outputs
_blocks.BLOCK = 6
finish = _outputs.FileOutput.finish
def reported(self, block, checksum):
    finish(self, block, checksum)
    print(np.count_nonzero(self.sums), flush=True)
_outputs.FileOutput.finish = reported
gm.pairwise_emd(X, metric=data["metric"], out=sys.argv[2])
""",
    # Reports each row when it is written.
    "results": """
from paper import ResultsFile, Row
with ResultsFile(sys.argv[2]) as file:
    for k in range(10_000):
        row = Row("mine", k, "a | b", "l1", 0, 3, 4, [0.1], [0.5], None, 0.0, 0.1,
                  "{}", "0.1.0")
        file.append([row])
        print(k, flush=True)
""",
}
START = """
import signal, sys
import numpy as np
import groundmetric as gm
import paper
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in background jobs
data = np.load(sys.argv[1])
X, y = data["X"], data["y"]
"""


def saved_model(path):
    return gm.GroundMetricLearning.load(path).random_state


def finished_blocks(path):
    found = Path(f"{path}.blocks").read_bytes()[32:]
    return np.count_nonzero(np.frombuffer(found, _outputs.SUM))


def last_row(path):
    return int(read_results(path)["task"].max())


STORED = {
    "save": ("model.npz", saved_model),
    "out": ("out.npy", finished_blocks),
    "results": ("results.sqlite", last_row),
}


@pytest.mark.parametrize("number", ["SIGKILL", "SIGTERM", "SIGINT"])
@pytest.mark.parametrize("work", WORK)
def test_what_was_reported_is_there(work, number, data, tmp_path):
    name, read = STORED[work]
    path = tmp_path / name
    process = python(START + WORK[work], data, path)
    reported = [process.stdout.readline() for _ in range(4)]
    process.send_signal(getattr(signal, number))
    reported += process.stdout.readlines()
    process.communicate()
    assert process.returncode == -getattr(signal, number)
    last = max(int(line) for line in reported if line.strip())
    # The one that was at work may have been finished, but not reported.
    assert read(path) in (last, last + 1)


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_signals_are_one_line_of_the_command(number, data, tmp_path):
    pytest.importorskip("typer")
    state, out = tmp_path / "state", tmp_path / "model.npz"
    line = ["fit", data, "--tol", "0", "--checkpoint", state, "--out", out]
    code, _, error = finished(SCRIPT, interrupted.__file__, number, *line)
    message = error.splitlines()
    assert code == 128 + getattr(signal, number)
    assert message[-1].startswith(
        f"interrupted; {state} has the work so far. To resume:"
    )
    assert not any("Traceback" in line for line in message)
    _, arrays = _files.read(state, "checkpoint")
    assert len(arrays["path"]) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["state"]


# --- disks

ROOM = """
import os, resource, sys, warnings
from pathlib import Path
import numpy as np
import groundmetric as gm
import paper
data = np.load(sys.argv[1])
X, y, metric = data["X"], data["y"], data["metric"]
folder = Path(sys.argv[2])

def limit(n_bytes):
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, resource.RLIM_INFINITY))

def attempt(work):
    try:
        work()
    except (OSError, ValueError) as error:
        print(type(error).__name__, error)
    print(sorted(path.name for path in folder.iterdir()))
"""
SAVE = """
def learner(n):
    return gm.GroundMetricLearning(max_steps=2).fit(X[:n], y[:n])
large = learner(N)
learner(20).save(folder / "model.npz")
limit(3000)
attempt(lambda: large.save(folder / "model.npz"))
print(len(gm.GroundMetricLearning.load(folder / "model.npz").transform(X[:1])[0]))
"""
RESULTS = """
from paper import ResultsFile, Row, read_results
def rows(tasks):
    return [Row("mine", k, "a | b", "l1", 0, 3, 4, [0.1] * 500, [0.5], None, 0.0, 0.1,
                "{}", "0.1.0") for k in tasks]
with ResultsFile(folder / "r.sqlite") as file:
    file.append(rows(range(3)))
    limit(os.path.getsize(folder / "r.sqlite") + 9000)
    attempt(lambda: file.append(rows(range(3, 50))))
print(len(read_results(folder / "r.sqlite")))
"""
CHECKPOINT = """
limit(1000)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    attempt(lambda: gm.GroundMetricLearning(
        max_steps=3, callbacks=[gm.Checkpoint(folder / "state", seconds=0)]
    ).fit(X, y))
print([str(one.message) for one in caught if "checkpoint" in str(one.message)])
"""


def answer(process):
    """Lines that a process printed; it must not have failed."""
    out, error = process.communicate()
    assert process.returncode == 0, error
    return out.splitlines()


@pytest.mark.skipif(not LINUX, reason="needs limits of files")
def test_no_room_for_a_model(data, tmp_path):
    code = ROOM + SAVE.replace("(N)", f"({N})")
    message, files, n_rows = answer(python(code, data, tmp_path))
    assert message.startswith("OSError")
    assert f"{tmp_path / 'model.npz'}" in message
    assert files == "['model.npz']"  # the older one, whole
    assert int(n_rows) == 20


@pytest.mark.skipif(not LINUX, reason="needs limits of files")
def test_no_room_for_results(data, tmp_path):
    message, files, n_rows = answer(python(ROOM + RESULTS, data, tmp_path))
    assert message.startswith(f"ValueError {tmp_path / 'r.sqlite'} cannot be ")
    assert files in ("['r.sqlite']", "['r.sqlite', 'r.sqlite-journal']")
    assert int(n_rows) == 3


@pytest.mark.skipif(not LINUX, reason="needs limits of files")
def test_no_room_for_a_checkpoint_does_not_end_a_fit(data, tmp_path):
    files, warned = answer(python(ROOM + CHECKPOINT, data, tmp_path))
    assert files == "[]"
    assert warned.count("cannot be written") == 1  # only once


def mounts():
    """Whether this process may mount, in a name space of its own."""
    if not LINUX or shutil.which("unshare") is None:
        return False
    line = ["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return subprocess.run(line, capture_output=True, check=False).returncode == 0


needs_mounts = pytest.mark.skipif(not mounts(), reason="needs the right to mount")


@needs_mounts
@pytest.mark.parametrize("kind", ["path", "memmap"])
def test_distances_on_a_disk_that_is_too_small(kind, data, tmp_path):
    """A map of a sparse file would end in a bus error, hours later."""
    out = "out" if kind == "path" else "np.load(out, mmap_mode='r+')"
    code = f"""{ROOM}
out = folder / "out.npy"
if {kind == "memmap"}:
    np.lib.format.open_memmap(out, "w+", np.float64, (len(X), len(X)))
attempt(lambda: gm.pairwise_emd(X, metric=metric, out={out}))
"""
    disk = f"mount -t tmpfs -o size=100k tmpfs {tmp_path}"
    message, files = answer(python_on(disk, code, data, tmp_path))
    assert "No space left on device; make room on the disk" in message
    assert message.count("make room") == 1
    assert files == ("[]" if kind == "path" else "['out.npy']")


@needs_mounts
def test_a_read_only_folder_is_refused_first(data, tmp_path):
    code = f"""{ROOM}
model = gm.GroundMetricLearning(max_steps=1).fit(X[:9], y[:9])
attempt(lambda: model.save(folder / "model.npz"))
attempt(lambda: gm.pairwise_emd(X, metric=metric, out=folder / "out.npy"))
saved = gm.Checkpoint(folder / "state")
attempt(lambda: gm.GroundMetricLearning(callbacks=[saved]).fit(X, y))
from paper import ResultsFile
attempt(lambda: ResultsFile(folder / "r.sqlite"))
"""
    disk = f"mount -t tmpfs -o ro tmpfs {tmp_path}"
    lines = answer(python_on(disk, code, data, tmp_path))
    assert lines[1::2] == ["[]"] * 4
    for name, message in zip(
        ("model.npz", "out.npy", "state", "r.sqlite"), lines[::2], strict=True
    ):
        assert str(tmp_path / name) in message
        reason = "unable to open" if name == "r.sqlite" else "Read-only file system"
        assert reason in message


# --- damaged files


@pytest.fixture
def unfinished(data, tmp_path, monkeypatch):
    """Compute some blocks of distances; return the file and the call that resumes."""
    monkeypatch.setattr(_blocks, "BLOCK", 50)
    arrays, out = np.load(data), tmp_path / "out.npy"
    finish = _outputs.FileOutput.finish

    def stop(self, block, checksum):
        finish(self, block, checksum)
        if np.count_nonzero(self.sums) == 3:
            raise KeyboardInterrupt

    def resume():
        return gm.pairwise_emd(arrays["X"], metric=arrays["metric"], out=out)

    with monkeypatch.context() as patch:
        patch.setattr(_outputs.FileOutput, "finish", stop)
        with pytest.raises(KeyboardInterrupt):
            resume()
    return out, resume


def test_flipped_marks_are_never_believed(unfinished):
    out, resume = unfinished
    marks = Path(f"{out}.blocks")
    whole, partly = marks.read_bytes(), np.load(out)
    expected = np.array(resume())
    assert not np.array_equal(partly, expected)
    for bit in range(8 * len(whole)):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        marks.write_bytes(flipped)
        if bit < 8 * _outputs.KEY:
            with pytest.raises(ValueError, match="remove it to start again"):
                resume()
        else:  # the block is solved again, if it was done
            np.testing.assert_array_equal(resume(), expected)
    marks.write_bytes(whole)
    np.testing.assert_array_equal(resume(), expected)


def test_distances_that_were_lost_are_computed_again(unfinished):
    out, resume = unfinished
    partly = np.load(out)
    np.save(out, np.zeros_like(partly))  # as by a memory map of mode "w+"
    found = np.array(resume())
    assert (found > 0).sum() > (partly > 0).sum()
    np.testing.assert_array_equal(found, resume())


def test_distances_that_are_cut_off_are_not_continued(unfinished):
    out, resume = unfinished
    whole = out.read_bytes()
    for size in (0, 5, 60, 127, 128, 1000, len(whole) - 1):
        out.write_bytes(whole[:size])
        with pytest.raises(ValueError, match=r"out is .*, which is damaged"):
            resume()
    out.write_bytes(whole)
    assert resume().shape == (N, N)


def test_results_that_are_cut_off_are_refused(tmp_path):
    path = tmp_path / "r.sqlite"
    with ResultsFile(path) as file:
        for k in range(200):
            file.append([a_row(k)])
    whole = path.read_bytes()
    expected = read_results(path)
    for share in (0.2, 0.5, 0.9):
        path.write_bytes(whole[: int(share * len(whole))])
        with pytest.raises(ValueError, match="cannot be opened as a results file"):
            read_results(path)
        with (
            pytest.raises(ValueError, match="cannot be opened"),
            ResultsFile(path) as f,
        ):
            f.append([a_row(1000)])
    path.write_bytes(whole)
    assert read_results(path).equals(expected)


def a_row(task):
    curves = ([0.1] * 9, [0.5] * 9)
    return Row("mine", task, "a | b", "l1", 0, 3, 4, *curves, None, 0.0, 0.1, "{}", "0")


# --- clocks


def test_a_clock_that_jumps_changes_nothing(data, tmp_path, monkeypatch):
    arrays = np.load(data)
    X, y = arrays["X"][:40], arrays["y"][:40]
    settings = {"max_steps": 6, "tol": 0.0}
    expected = gm.GroundMetricLearning(**settings).fit(X, y)
    now = [2e9]

    def backwards():
        now[0] -= 3600.0
        return now[0]

    def interrupt(step):
        if step.outer == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(time, "time", backwards)
    state = tmp_path / "state"
    given = {**settings, "verbose": 1}
    saved = gm.Checkpoint(state, seconds=0)
    with pytest.raises(KeyboardInterrupt):
        gm.GroundMetricLearning(callbacks=[interrupt, saved], **given).fit(X, y)
    os.utime(state, (4e9, 4e9))  # written in the year 2096
    found = gm.GroundMetricLearning(callbacks=[saved], **given).fit(X, y)
    np.testing.assert_array_equal(found.metric_, expected.metric_)
    assert (np.diff(found.path_.column("seconds")) > 0).all()
    assert not state.exists()


# --- workers


def lethal(flag, X, y, n_jobs):
    """Kill the process that learns, the second time."""
    try:
        Path(flag).touch(exist_ok=False)
    except FileExistsError:
        if not Path(f"{flag}.killed").exists():
            Path(f"{flag}.killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return METHODS["l1"].learn(X, y, n_jobs)


def test_a_killed_worker_of_joblib_is_one_sentence(tmp_path):
    y = np.repeat(["a", "b", "c", "d"], 14)
    X = np.random.default_rng(0).dirichlet(np.ones(5), size=len(y))
    method = Method("l1", "l1", {}, partial(lethal, str(tmp_path / "flag")))
    given = {
        "tasks": binary_tasks(y, seed=0, n_train=6, n_test=6),
        "methods": [method],
        "path": tmp_path / "r.sqlite",
        "n_neighbors": 5,
        "experiment": "toy",
    }
    with joblib.parallel_config("loky", n_jobs=2):
        with pytest.raises(RuntimeError, match=r"A worker process was killed.* again"):
            run(X, y, **given)
        before = read_results(given["path"])
        assert run(X, y, **given) == len(given["tasks"]) - len(before)
    after = read_results(given["path"])
    assert len(after) == len(given["tasks"])
    # What was written stays as it was, times included.
    kept = after[after["task"].isin(before["task"])].reset_index(drop=True)
    assert kept.equals(before)
