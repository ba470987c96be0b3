"""Fits that are killed or interrupted, and resume."""

import errno
import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

import groundmetric as gm
from groundmetric import (
    Checkpoint,
    GroundMetricLearning,
    Neighborhood,
    _files,
)
from groundmetric.cone._projection import MetricProjector
from groundmetric.learning._checkpoint import StateFile
from groundmetric.learning._descent import Descent, Settings
from groundmetric.learning._margin import MarginCriterion
from groundmetric.learning._neighborhood import NeighborhoodCriterion
from groundmetric.learning._space import MetricCone
from groundmetric.similarity._makers import weights_of
from started import python

SETTINGS = {"criterion": Neighborhood(inner_steps=8), "max_steps": 24, "tol": 0.0}
FIT = f"""
import os, signal, sys
import numpy as np
from groundmetric import Checkpoint, GroundMetricLearning, Neighborhood
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in background jobs
file, result, last = sys.argv[1], sys.argv[2], int(sys.argv[3])
data = np.load(file + ".data.npz")
steps = []

def kill(step):
    steps.append(step)
    if len(steps) == last:
        os.kill(os.getpid(), signal.SIGKILL)

learner = GroundMetricLearning(
    **{SETTINGS!r}, callbacks=[Checkpoint(file, seconds=0), kill]
)
learner.fit(data["X"], data["y"]).save(result)
print(len(steps))
"""


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    chosen = np.concatenate([np.flatnonzero(y == digit)[:12] for digit in (3, 8)])
    return X[chosen], y[chosen]


@pytest.fixture(scope="module")
def whole(digits):
    return GroundMetricLearning(**SETTINGS).fit(*digits)


def start(folder, last, code=FIT):
    return python(code, folder / "run", folder / "model", last)


def same(a, b):
    np.testing.assert_array_equal(a.metric_, b.metric_)
    one, two = a.path_.to_array(), b.path_.to_array()
    one["seconds"] = two["seconds"]
    np.testing.assert_array_equal(one, two)


def test_a_killed_fit_goes_on_to_the_same_metric(digits, whole, tmp_path):
    X, y = digits
    np.savez(tmp_path / "run.data.npz", X=X, y=y)
    n_done = 0
    for last in (5, 9, 1):  # in the middle of the first and second outer step
        process = start(tmp_path, last)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        n_done += last - 1  # the step at which it dies is not written
        _, arrays = _files.read(tmp_path / "run", "checkpoint")
        assert len(arrays["path"]) == n_done
    process = start(tmp_path, 0)
    assert int(process.communicate()[0]) == whole.n_iter_ - n_done
    same(GroundMetricLearning.load(tmp_path / "model"), whole)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "run.data.npz"]


def test_killed_at_any_moment(digits, whole, tmp_path):
    X, y = digits
    np.savez(tmp_path / "run.data.npz", X=X, y=y)
    moments = np.random.default_rng(0)
    for _ in range(3):
        process = start(tmp_path, 0)
        while not (tmp_path / "run").exists() and process.poll() is None:
            time.sleep(0.005)
        time.sleep(moments.uniform(0.0, 0.1))
        process.kill()
        process.communicate()
    process = start(tmp_path, 0)
    process.communicate()
    assert process.returncode == 0
    same(GroundMetricLearning.load(tmp_path / "model"), whole)


CRITERIA = {
    "neighborhood": lambda X, w: NeighborhoodCriterion(X, w, 3, 3),
    "margin": lambda X, w: MarginCriterion(X, w, 5, 0.3),
}


@pytest.mark.core
@pytest.mark.parametrize("name", CRITERIA)
def test_state_is_all_that_matters(digits, tmp_path, name):
    # Runs that continue from a state in a file, for every place in the loops.
    X, y = digits
    X = X / X.sum(axis=1, keepdims=True)
    weights = weights_of(len(y), y, None)
    M = gm.initial_metric(X, table="uniform")
    settings = Settings(max_outer=2, max_inner=4)

    def fresh():
        return Descent(CRITERIA[name](X, weights), MetricCone(M), settings)

    def write(descent):
        path = tmp_path / str(len(descent.path))
        _files.write(path, "checkpoint", {}, descent.state())

    whole = fresh()
    whole.run([write])
    assert len(whole.path) >= 2
    for n_steps in range(1, len(whole.path) + 1):
        rest = fresh()
        rest.set_state(_files.read(tmp_path / str(n_steps), "checkpoint")[1])
        rest.run()
        a, b = whole.state(), rest.state()
        assert a.keys() == b.keys()
        a["path"]["seconds"] = b["path"]["seconds"]
        for key in a:
            np.testing.assert_array_equal(a[key], b[key], err_msg=key)


def written(digits, path, **options):
    """Leave a checkpoint behind, as a crash does."""

    def crash(step):
        if step.inner == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        GroundMetricLearning(
            callbacks=[crash, Checkpoint(path, seconds=0)], **SETTINGS | options
        ).fit(*digits)
    assert path.exists()


def test_what_a_checkpoint_depends_on(digits, whole, tmp_path):
    X, y = digits
    path = tmp_path / "run"
    written(digits, path)
    for options, rows in (
        ({"step_size": 0.3}, X),
        ({"criterion": Neighborhood(k=2, inner_steps=8)}, X),
        ({"init": "typical"}, X),
        ({}, np.roll(X, 1, axis=1)),
    ):
        before = path.read_bytes()
        with pytest.raises(ValueError, match="other data, parameters"):
            GroundMetricLearning(
                callbacks=[Checkpoint(path)], **SETTINGS | options
            ).fit(rows, y)
        assert path.read_bytes() == before
    # But not on the number of threads.
    learner = GroundMetricLearning(
        n_jobs=2, callbacks=[Checkpoint(os.fspath(path))], **SETTINGS
    )
    same(learner.fit(X, y), whole)
    assert not path.exists()


def test_killed_at_the_very_end(digits, whole, tmp_path, monkeypatch):
    # Between the last step and the removal of the file.
    path = tmp_path / "run"

    def die(_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(StateFile, "remove", die)
        with pytest.raises(KeyboardInterrupt):
            GroundMetricLearning(
                callbacks=[Checkpoint(path, seconds=0)], **SETTINGS
            ).fit(*digits)
    assert path.exists()
    learner = GroundMetricLearning(callbacks=[Checkpoint(path)], **SETTINGS).fit(
        *digits
    )
    same(learner, whole)
    assert (np.diff(learner.path_.column("seconds")) > 0).all()
    assert not path.exists()


def test_an_interrupted_fit_keeps_its_last_step(digits, whole, tmp_path):
    # A real Ctrl-C, long before the checkpoint is due.
    X, y = digits
    np.savez(tmp_path / "run.data.npz", X=X, y=y)
    code = FIT.replace("seconds=0", "seconds=1e6")
    code = code.replace("SIGKILL", "SIGINT")
    process = start(tmp_path, 5, code)
    error = process.communicate()[1]
    assert process.returncode == -signal.SIGINT
    assert error.rstrip().endswith("KeyboardInterrupt")
    _, arrays = _files.read(tmp_path / "run", "checkpoint")
    assert len(arrays["path"]) == 4
    process = start(tmp_path, 0, code)
    assert int(process.communicate()[0]) == whole.n_iter_ - 4
    same(GroundMetricLearning.load(tmp_path / "model"), whole)


def test_interrupted_in_the_middle_of_a_step(digits, whole, tmp_path, monkeypatch):
    # When the metric has been evaluated, but not yet moved.
    path = tmp_path / "run"
    project, n_calls = MetricProjector.project, []

    def interrupted(*args, **options):
        n_calls.append(1)
        if len(n_calls) == 11:
            raise KeyboardInterrupt
        return project(*args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(MetricProjector, "project", interrupted)
        with pytest.raises(KeyboardInterrupt):
            GroundMetricLearning(callbacks=[Checkpoint(path)], **SETTINGS).fit(*digits)
    _, arrays = _files.read(path, "checkpoint")
    assert len(arrays["path"]) == 10
    same(
        GroundMetricLearning(callbacks=[Checkpoint(path)], **SETTINGS).fit(*digits),
        whole,
    )


def test_interrupted_before_the_first_step(digits, tmp_path):
    def interrupt(_):
        raise KeyboardInterrupt

    learner = GroundMetricLearning(callbacks=[interrupt, Checkpoint(tmp_path / "run")])
    with pytest.raises(KeyboardInterrupt):
        learner.fit(*digits)
    assert list(tmp_path.iterdir()) == []


def fail_with(number):
    def fail(*_):
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS])
def test_a_checkpoint_that_cannot_be_written_warns_once(
    digits, whole, tmp_path, monkeypatch, number
):
    monkeypatch.setattr(os, "fsync", fail_with(number))
    path = tmp_path / "run"
    learner = GroundMetricLearning(callbacks=[Checkpoint(path, seconds=0)], **SETTINGS)
    with pytest.warns(UserWarning, match="cannot be written") as warned:
        learner.fit(*digits)
    (one,) = warned
    assert f"{path} cannot be written ({os.strerror(number)}" in str(one.message)
    same(learner, whole)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_is_not_hidden_by_a_full_disk(digits, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", fail_with(errno.ENOSPC))

    def interrupt(step):
        if step.inner == 3:
            raise KeyboardInterrupt

    learner = GroundMetricLearning(
        callbacks=[interrupt, Checkpoint(tmp_path / "run")], **SETTINGS
    )
    with (
        pytest.warns(UserWarning, match="cannot be written"),
        pytest.raises(KeyboardInterrupt),
    ):
        learner.fit(*digits)


def test_a_checkpoint_that_cannot_be_removed(digits, whole, tmp_path, monkeypatch):
    path = tmp_path / "run"
    written(digits, path)
    learner = GroundMetricLearning(callbacks=[Checkpoint(path)], **SETTINGS)
    with monkeypatch.context() as patch:
        patch.setattr(StateFile, "resume", lambda *_: lock(patch, path))
        with pytest.warns(UserWarning, match="run is no longer needed, but cannot"):
            learner.fit(*digits)
    same(learner, whole)


def lock(patch, path):
    """Make a file one that cannot be removed, also for root."""
    unlink = type(path).unlink

    def refuse(file, **options):
        if file == path:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        unlink(file, **options)

    patch.setattr(type(path), "unlink", refuse)


def test_a_checkpoint_is_tried_before_the_work(digits, tmp_path):
    seen = []
    for path, message in (
        (tmp_path / "no" / "where", "but there is no folder .*no\\.$"),
        (tmp_path, "is a folder"),
        (3, "path of Checkpoint is 3; that of a file is needed"),
    ):
        learner = GroundMetricLearning(callbacks=[seen.append, Checkpoint(path)])
        with pytest.raises(ValueError, match=message):
            learner.fit(*digits)
    assert seen == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "change",
    [
        {"space.metric": np.zeros((50, 1))},
        {"space.metric": np.full((64, 64), np.nan)},
        {"space.metric": 1e-3 * np.eye(64) - 1e-3},
        {"best": np.ones((64, 64))},
        {"sum": np.zeros((3, 3))},
        {"slope": np.full((64, 64), np.inf)},
        {"position": np.array([50, 3])},
        {"position": np.array([0, -1])},
        {"criterion.dissimilar.starts": np.zeros(3, np.int64)},
        {"criterion.dissimilar.starts": None},
        {"criterion.dissimilar.neighbors": np.zeros(7, np.int32)},
        {"criterion.similar.neighbors": np.full(200, -1, np.int32)},
        {"space.triangles": np.zeros((3, 3), np.int32)},
        {"path": np.zeros((0, 13))},
        {"tangent": None},  # missing
    ],
)
def test_a_checkpoint_that_cannot_be_one_is_refused(digits, tmp_path, change):
    path = tmp_path / "run"
    written(digits, path)
    facts, arrays = _files.read(path, "checkpoint")
    arrays = {k: v for k, v in {**arrays, **change}.items() if v is not None}
    _files.write(path, "checkpoint", facts, arrays)
    with pytest.raises(ValueError, match="run cannot be resumed"):
        GroundMetricLearning(callbacks=[Checkpoint(path)], **SETTINGS).fit(*digits)


def test_a_damaged_checkpoint_is_refused(digits, tmp_path):
    path = tmp_path / "run"
    written(digits, path)
    for damage in (
        lambda data: data[: len(data) // 2],
        lambda data: data[:2000] + bytes([data[2000] ^ 1]) + data[2001:],
        lambda _: b"",
        lambda _: b"not an archive",
    ):
        whole_file = path.read_bytes()
        path.write_bytes(damage(whole_file))
        with pytest.raises(ValueError, match="run is damaged, or not a file of"):
            GroundMetricLearning(callbacks=[Checkpoint(path)], **SETTINGS).fit(*digits)
        path.write_bytes(whole_file)


def test_writing_is_all_or_nothing(tmp_path, monkeypatch):
    path = tmp_path / "file"
    _files.write(path, "model", {"a": 1}, {"x": np.arange(3)})

    monkeypatch.setattr(os, "fsync", fail_with(errno.ENOSPC))
    with pytest.raises(OSError, match=r"No space left .*; make room .*file'$"):
        _files.write(path, "model", {"a": 2}, {})
    facts, arrays = _files.read(path, "model")
    assert facts == {"a": 1}
    np.testing.assert_array_equal(arrays["x"], range(3))
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_checkpoints_are_values(tmp_path):
    one = Checkpoint(tmp_path / "run", seconds=5)
    assert one == Checkpoint(tmp_path / "run", seconds=5)
    assert one != Checkpoint(tmp_path / "run")
    assert len({one, Checkpoint(tmp_path / "run", seconds=5)}) == 1
    assert repr(Checkpoint("run")) == "Checkpoint('run', seconds=60.0)"
    learner = clone(GroundMetricLearning(callbacks=[one]))
    assert learner.callbacks == [one]


def test_seldom_means_never_in_a_short_run(digits, whole, tmp_path):
    path = tmp_path / "run"
    seen = []

    def look(_):
        seen.append(path.exists())

    learner = GroundMetricLearning(callbacks=[look, Checkpoint(path)], **SETTINGS)
    same(learner.fit(*digits), whole)
    assert not any(seen)
    with pytest.raises(ValueError, match="seconds is -1"):
        GroundMetricLearning(callbacks=[Checkpoint(path, seconds=-1)]).fit(*digits)


def test_half_a_file_is_never_seen(tmp_path):
    path = tmp_path / "page"
    _files.write_text(path, "whole \N{BULLET}\n")

    def fill(file):
        file.write(b"half")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        _files.write_whole(path, fill)
    assert [file.name for file in tmp_path.iterdir()] == ["page"]
    assert path.read_bytes() == "whole \N{BULLET}\n".encode()


FILLS = {
    "text": lambda file: file.write(b"text"),
    "archive": lambda file: np.savez(file, x=np.arange(5)),
    "array": lambda file: np.save(file, np.ones(9999)),  # has no number of its own
}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
@pytest.mark.parametrize("fill", FILLS)
def test_a_full_disk_is_named(fill, tmp_path):
    path = tmp_path / "file"
    path.symlink_to("/dev/full")
    with pytest.raises(OSError, match="make room on the disk") as caught:
        _files.write_whole(path, FILLS[fill])
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == str(path)
    assert path.is_symlink()
    assert Path("/dev/full").is_char_device()


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "there").mkdir()
    link, target = tmp_path / "link", tmp_path / "there" / "file"
    link.symlink_to(target)
    for text in ("one", "two"):
        _files.write_text(link, text)
        assert link.is_symlink()
        assert target.read_text() == text
    assert [file.name for file in target.parent.iterdir()] == ["file"]
    link.unlink()
    link.symlink_to(tmp_path / "nowhere" / "file")
    with pytest.raises(ValueError, match=r"link, but there is no folder .*nowhere\."):
        _files.require_writable(link, "--out")


def test_a_sample_without_a_seed_cannot_resume(digits, tmp_path):
    saved = Checkpoint(tmp_path / "run")
    options = {"max_samples": 12, "max_steps": 2}
    learner = GroundMetricLearning(callbacks=[saved], **options)
    search = gm.MetricLearningCV(learner, {}, cv=2, random_state=None)
    for each in (learner, search):
        with pytest.raises(ValueError, match="random_state is None, but callbacks has"):
            each.fit(*digits)
    search.set_params(random_state=0).fit(*digits)
    assert len(search.sample_indices_) == 12
    learner.set_params(random_state=0).fit(*digits)
    assert learner.n_iter_ == 2
    whole = clone(learner).set_params(max_samples=24, random_state=None)
    assert whole.fit(*digits).n_iter_ == 2  # nothing is drawn


@pytest.mark.parametrize("smoothed", [False, True])
@pytest.mark.parametrize("other", [1, None])
def test_a_checkpoint_of_batches_belongs_to_its_seed(digits, tmp_path, other, smoothed):
    def stop(step):
        if step.outer == 2:
            raise KeyboardInterrupt

    def learner(seed, *callbacks):
        saved = Checkpoint(tmp_path / "run", seconds=0)
        kind = gm.SinkhornMetricLearning if smoothed else GroundMetricLearning
        return kind(
            batch_size=12,
            max_steps=4,
            random_state=seed,
            callbacks=[*callbacks, saved],
        )

    with pytest.raises(KeyboardInterrupt):
        learner(0, stop).fit(*digits)
    with pytest.raises(ValueError, match="other data, parameters"):
        learner(other).fit(*digits)
    seen = []
    learner(0, seen.append).fit(*digits)
    assert len(seen) == 2


def test_batches_without_a_seed_resume_with_their_own(digits, tmp_path):
    def stop(step):
        if step.outer == 2:
            raise KeyboardInterrupt

    saved, seen = Checkpoint(tmp_path / "run", seconds=0), []
    options = {"batch_size": 12, "max_steps": 4}
    with pytest.raises(KeyboardInterrupt):
        GroundMetricLearning(callbacks=[stop, saved], **options).fit(*digits)
    GroundMetricLearning(callbacks=[seen.append, saved], **options).fit(*digits)
    assert len(seen) == 2
