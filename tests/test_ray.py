"""Experiments on Ray, through joblib's backend for it."""

import joblib
import numpy as np
import pytest

import paper

ray = pytest.importorskip("ray", reason="ray is not installed")

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own


@pytest.fixture
def backend(monkeypatch):
    """Start Ray with two processors."""
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # or it writes a token
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    from ray.util.joblib import register_ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    register_ray()
    yield "ray"
    ray.shutdown()


def test_experiments(backend, tmp_path):
    rng = np.random.default_rng(2)
    X, y = rng.gamma(1.0, size=(30, 6)), np.repeat([0, 1, 2], 10)
    tasks = list(paper.binary_tasks(y, n_train=4))
    frames = []
    for name in ("loky", backend):
        path = tmp_path / f"{name}.sqlite"
        options = {"methods": ["l1", "hellinger"], "n_neighbors": 3}
        with joblib.parallel_config(backend=name, n_jobs=2):
            workers = joblib.Parallel()(2 * [joblib.delayed(ray.is_initialized)()])
            assert all(workers) == (name == backend)
            n = paper.run(X, y, tasks=tasks, path=path, experiment="e", **options)
        assert n == 2 * len(tasks)
        frame = paper.read_results(path).sort_values(["task", "method"])
        same = frame[["task", "method", "seed", "knn_errors", "recall"]]
        frames.append(same.to_numpy().tolist())
    assert str(frames[0]) == str(frames[1])
