"""Models in files."""

import json
import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_digits

import groundmetric as gm
from groundmetric import Checkpoint, GroundMetricLearning, _files

QUICK = {"max_steps": 3}


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    chosen = np.concatenate([np.flatnonzero(y == digit)[:8] for digit in (3, 8)])
    return X[chosen], y[chosen]


@pytest.fixture
def saved(digits, tmp_path):
    learner = GroundMetricLearning(**QUICK).fit(*digits)
    learner.save(tmp_path / "model.npz")
    return learner, tmp_path / "model.npz"


def test_load_gives_what_was_saved(digits, saved):
    X, _ = digits
    learner, path = saved
    again = GroundMetricLearning.load(path)
    assert again.get_params() == learner.get_params()
    for name in ("metric_", "initial_metric_", "classes_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(learner, name))
    assert list(again.path_) == list(learner.path_)
    assert again.n_iter_ == learner.n_iter_
    assert again.n_features_in_ == 64
    np.testing.assert_array_equal(again.transform(X), learner.transform(X))
    with pytest.raises(ValueError, match="X has 3 features, but"):
        again.transform(X[:, :3])


def test_all_kinds_of_parameters(digits, tmp_path):
    X, y = digits
    frame = pd.DataFrame(X).add_prefix("bin")
    init = gm.initial_metric(X, table="uniform")
    learner = GroundMetricLearning(
        gm.Neighborhood(k=None),
        init=init,
        step_size=np.float32(0.5),
        tol=np.float64(0.01),
        n_jobs=2,
        max_steps=np.int64(1) * 2,
        callbacks=[lambda _: False, Checkpoint(tmp_path / "checkpoint")],
    ).fit(frame, np.array(["three", "eight"], dtype=object)[y // 5])
    learner.save(str(tmp_path / "model"))
    again = GroundMetricLearning.load(str(tmp_path / "model"))
    np.testing.assert_array_equal(again.init, init)
    assert again.callbacks == ()  # functions are not stored, nor where to save
    assert repr(again.criterion) == "Neighborhood(k=None)"
    assert (again.step_size, again.n_jobs) == (0.5, 2)
    assert again.classes_.tolist() == ["eight", "three"]
    assert again.feature_names_in_.tolist() == list(frame.columns)
    np.testing.assert_array_equal(again.transform(frame), learner.transform(frame))
    # It can be fitted again, and without labels there are no classes.
    np.testing.assert_array_equal(again.fit(frame, y).metric_, learner.metric_)
    plain = GroundMetricLearning(**QUICK).fit(X, similarity=gm.label_similarity(y))
    plain.save(tmp_path / "model")
    assert not hasattr(GroundMetricLearning.load(tmp_path / "model"), "classes_")


def test_no_pickle_inside(saved):
    _, path = saved
    with np.load(path, allow_pickle=False) as file:
        header = json.loads(file["header"].item())
        assert not any(file[name].dtype.hasobject for name in file.files)
    assert header["format"] == "groundmetric model"
    assert header["version"] == 1
    assert header["params"]["power"] == 0.5


def test_labels_that_only_pickle_could_hold(digits, tmp_path):
    X, y = digits
    learner = GroundMetricLearning(**QUICK).fit(X, y)
    learner.classes_ = np.array([None, (1, 2)], dtype=object)
    with pytest.raises(ValueError, match="classes_ holds Python objects"):
        learner.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_unfitted(tmp_path):
    with pytest.raises(ValueError, match="not fitted yet"):
        GroundMetricLearning().save(tmp_path / "model")


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_cut_off(saved, share):
    _, path = saved
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    with pytest.raises(ValueError, match=r"model\.npz is damaged, or not a file of"):
        GroundMetricLearning.load(path)


def test_flipped_bits(saved):
    learner, path = saved
    data = bytearray(path.read_bytes())
    rng = np.random.default_rng(0)
    n_refused = 0
    for place in rng.integers(len(data), size=60):
        data[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(data)
        try:
            again = GroundMetricLearning.load(path)
        except ValueError:
            n_refused += 1
        else:  # a bit that zip archives do not use, such as a date
            np.testing.assert_array_equal(again.metric_, learner.metric_)
        data = bytearray(learner_bytes(learner, path))
    assert n_refused > 50


def learner_bytes(learner, path):
    learner.save(path)
    return path.read_bytes()


def write_foreign(path, kind):
    arrays = {"a": np.zeros(3)}
    if kind == "pickle":
        path.write_bytes(pickle.dumps([1]))
    elif kind == "pickle inside":
        np.savez(path, header=np.array([{}], dtype=object))
    elif kind == "npy":
        with path.open("wb") as file:
            np.save(file, np.zeros(3))
    elif kind == "npz":
        np.savez(path, **arrays)
    elif kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a.txt", "a")
    elif kind == "folder":
        path.mkdir()
    else:
        path.write_text("a,b\n1,2\n", encoding="utf-8")


@pytest.mark.parametrize(
    "kind", ["pickle", "pickle inside", "npy", "npz", "zip", "folder", "text"]
)
def test_foreign_files(tmp_path, kind):
    path = tmp_path / "foreign.npz"
    write_foreign(path, kind)
    with pytest.raises(ValueError, match=r"foreign\.npz is damaged, or not a file"):
        GroundMetricLearning.load(path)


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        GroundMetricLearning.load(tmp_path / "nowhere")


def changed(path, change):
    """Write the model again, its facts and arrays changed."""
    with np.load(path) as file:
        arrays = dict(file.items())
    header = json.loads(arrays["header"].item())
    change(header, arrays)
    np.savez(path, **arrays | {"header": np.array(json.dumps(header))})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h, _: h.update(version=2), "version 2 of the format; this groundmet"),
        (lambda h, _: h.update(format="groundmetric checkpoint"), "not a groundmetric"),
        (lambda h, _: h.pop("params"), "not a model that this groundmetric can read"),
        (lambda _, a: a.update(path_=np.zeros((3, 13))), "its path has other columns"),
        (lambda _, a: a.pop("metric_"), "'metric_'"),
        (lambda _, a: a.update(metric_=a["metric_"][:3]), r"metric_ has shape \(3, 64"),
        (lambda _, a: a["metric_"].__setitem__((0, 1), 9.0), "metric_"),
        (lambda _, a: a["_histograms"].__setitem__((1, 2), np.nan), "its histograms"),
        (lambda _, a: a.update(path_=a["path_"][["outer"]]), "not a model that"),
        (lambda h, _: h["params"].update(surprise=1), "no attribute called surprise"),
        (lambda _, a: a.update(fit=np.zeros(1)), "no attribute called fit"),
    ],
)
def test_what_cannot_be_right(saved, change, message):
    _, path = saved
    changed(path, change)
    with pytest.raises(ValueError, match=message):
        GroundMetricLearning.load(path)


def test_another_kind_of_file(tmp_path):
    _files.write(tmp_path / "x", "checkpoint", {}, {})
    with pytest.raises(ValueError, match="not a groundmetric model, but a groundmetri"):
        GroundMetricLearning.load(tmp_path / "x")


NEIGHBORS = gm.EMDNeighbors(1 - np.eye(64), n_neighbors=3)
KERNELS = [gm.EMDKernel(), gm.EMDKernel(distance=1 - np.eye(64), bandwidth=0.5)]
CLASSIFIERS = [
    gm.EMDClassifier(learner=GroundMetricLearning(**QUICK)),
    gm.EMDClassifier(1).set_params(learner__max_steps=2),
]


@pytest.mark.parametrize(
    "estimator", [NEIGHBORS, *KERNELS, *CLASSIFIERS], ids=lambda e: type(e).__name__
)
def test_every_estimator_can_be_saved(digits, tmp_path, estimator):
    X, y = digits
    frame = pd.DataFrame(X).add_prefix("bin")
    path = tmp_path / "model.npz"
    fitted = clone(estimator).fit(frame, y)
    fitted.save(path)
    with np.load(path, allow_pickle=False) as file:
        assert all(file[name].dtype.kind != "O" for name in file.files)
    again = type(estimator).load(path)
    assert str(again.get_params()) == str(fitted.get_params())
    assert again.n_features_in_ == 64
    assert again.feature_names_in_.tolist() == list(frame.columns)
    use = "predict_proba" if hasattr(fitted, "predict_proba") else "transform"
    before, after = (getattr(each, use)(frame) for each in (fitted, again))
    if hasattr(before, "toarray"):
        before, after = before.toarray(), after.toarray()
    np.testing.assert_array_equal(after, before)
    # What was read can be written and fitted again.
    again.save(path)
    again.fit(frame, y)


def test_a_classifier_keeps_its_learner(digits, tmp_path):
    fitted = clone(CLASSIFIERS[0]).fit(*digits)
    fitted.save(tmp_path / "model")
    again = gm.EMDClassifier.load(tmp_path / "model")
    assert list(again.learner_.path_) == list(fitted.learner_.path_)
    assert again.learner.max_steps == 3
    assert not hasattr(again.learner, "metric_")
    np.testing.assert_array_equal(again.classes_, fitted.classes_)


def test_models_of_other_estimators(saved, digits, tmp_path):
    _, path = saved
    with pytest.raises(ValueError, match="is a model of GroundMetricLearning; read it"):
        gm.EMDClassifier.load(path)
    fitted = clone(CLASSIFIERS[0]).fit(*digits)
    fitted.save(tmp_path / "model")
    changed(tmp_path / "model", lambda _, a: a.update(_y=a["_y"] + 1))
    with pytest.raises(ValueError, match="_y does not number classes_"):
        gm.EMDClassifier.load(f"{tmp_path / 'model'}.npz")


def test_learners_of_others_are_refused(digits, tmp_path):
    class Other(BaseEstimator):
        def fit(self, X, _):
            self.metric_ = 1 - np.eye(X.shape[1])
            return self

    fitted = gm.EMDClassifier(learner=Other()).fit(*digits)
    with pytest.raises(
        ValueError, match="learner holds Python objects, which cannot be saved"
    ):
        fitted.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()
