"""Work on a Dask cluster of two processes: the same numbers, also if one is killed."""

import gc
import os
import pickle
import signal
import time
from collections import Counter

import joblib
import numpy as np
import pytest
from scipy.sparse import csr_array, vstack
from scipy.spatial.distance import cdist

import groundmetric as gm
import paper
import started
from groundmetric import _cluster
from groundmetric._cluster import Shards, _Packed, completed
from groundmetric.learning import _criterion
from groundmetric.transport import _blocks
from test_criterion import count_evaluations
from test_points import bags

distributed = pytest.importorskip("distributed", reason="dask is not installed")
dask = pytest.importorskip("dask", reason="dask is not installed")
da = pytest.importorskip("dask.array", reason="dask[array] is not installed")

pytestmark = pytest.mark.filterwarnings("ignore")  # Dask's own


@pytest.fixture(scope="module")
def client():
    """Start two workers, each a process with one thread."""
    started.server()  # forks workers, which then need not import anything
    how = {"distributed.worker.multiprocessing-method": "forkserver"}
    with (
        dask.config.set(how),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def data(monkeypatch):
    """Make histograms with coordinates of their bins, and small blocks."""
    monkeypatch.setattr(_blocks, "BLOCK", 8)
    rng = np.random.default_rng(0)
    X = rng.gamma(1.0, size=(60, 20))
    return X / X.sum(axis=1, keepdims=True), rng.normal(size=(20, 3))


@pytest.fixture
def killing(client, monkeypatch):
    """Kill a worker when the third block is written."""
    checksum, killed = _blocks._checksum, []

    def lethal(*args, **options):
        killed.append(None)
        if len(killed) == 3:
            pids = client.run(os.getpid)
            killed[-1] = pids[min(pids)]
            os.kill(killed[-1], signal.SIGKILL)
        return checksum(*args, **options)

    monkeypatch.setattr(_blocks, "_checksum", lethal)
    return killed


def test_blocks_as_tasks(client, data, tmp_path):
    X, points = data
    metric = cdist(points, points)
    for given in ({"metric": metric}, {"points": points}):
        expected = gm.pairwise_emd(X, **given)
        found = gm.pairwise_emd(X, **given, client=client)
        np.testing.assert_array_equal(found, expected)
        gm.pairwise_emd(X[:9], X, **given, client=client, out=tmp_path / "out.npy")
        direct = gm.pairwise_emd(X[:9], X, **given)
        np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), direct)


def worker_of(_shared, seconds):
    """Take a while, and say where."""
    time.sleep(seconds)
    return os.getpid()


def test_both_workers_start_at_once(client):
    """Eight short calls end before the scheduler would have moved the first."""
    found = [pid for _, pid in completed(client, worker_of, None, [(0.02,)] * 8)]
    assert len(found) == 8
    assert min(Counter(found).values()) >= 2
    assert set(found) == set(client.run(os.getpid).values())


def is_aligned(shared, own):
    """Look at arrays as they arrive."""
    return shared[1].flags.aligned and own.flags.aligned


def test_arrays_arrive_aligned(client):
    """Messages have arrays wherever there is room, the core needs them aligned."""
    arrays = [np.arange(5 + k, dtype=float) for k in range(6)]
    calls = [(own,) for own in arrays]
    found = dict(completed(client, is_aligned, ("x", arrays[0]), calls))
    assert found == dict.fromkeys(range(6), True)
    beside = []
    data = pickle.dumps(_Packed(arrays), 5, buffer_callback=beside.append)
    assert beside == []
    arrived = pickle.loads(data).item  # noqa: S301 - ours
    for there, here in zip(arrived, arrays, strict=True):
        np.testing.assert_array_equal(there, here)


def test_a_killed_worker_costs_only_time(client, data, killing):
    X, points = data
    before = set(client.run(os.getpid).values())
    found = gm.pairwise_emd(X, points=points, client=client, condensed=True)
    expected = gm.pairwise_emd(X, points=points)[np.triu_indices(60, 1)]
    np.testing.assert_array_equal(found, expected)
    assert killing[2] in before
    client.wait_for_workers(2)
    assert killing[2] not in client.run(os.getpid).values()


def test_an_error_of_a_worker_comes_back(client, data):
    X, points = data

    def broken(left, _right):
        raise RuntimeError(f"no costs for {len(left)} points")

    with pytest.raises(RuntimeError, match="no costs for 20 points"):
        gm.pairwise_emd(X, points=points, metric=broken, client=client)
    # The cluster is free for other work.
    assert client.submit(sum, [1, 2]).result() == 3


@pytest.mark.parametrize("metric", [None, "euclidean", "cityblock"])
def test_neighbors(client, data, metric, monkeypatch):
    monkeypatch.setattr("groundmetric.neighbors._bases.QUERIES", 7)
    X, points = data
    if metric is not None:
        rng = np.random.default_rng(1)
        X, search = bags(rng, 60, 20, 9), gm.EMDNeighbors(metric, points=points)
    else:
        search = gm.EMDNeighbors(cdist(points, points))
    search.fit(X[:40])
    X = csr_array(X)
    expected, n_solves = search.kneighbors(X[40:]), search.n_solves_
    found = search.kneighbors(X[40:], client=client)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)
    assert search.n_solves_ == n_solves
    search.fit(vstack([X[:40], X[5:6], X[5:6]], format="csr"))  # ties
    found = search.kneighbors(client=client)
    for a, b in zip(found, search.kneighbors(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_experiments(client, tmp_path):
    """Run tasks here, on the client's workers, and by joblib's Dask backend."""
    rng = np.random.default_rng(2)
    X, y = rng.gamma(1.0, size=(40, 6)), np.repeat([0, 1, 2, 3], 10)
    tasks = list(paper.binary_tasks(y, n_train=4))
    frames = []
    for name in ("here", "there", "joblib"):
        path = tmp_path / f"{name}.sqlite"
        options = {"methods": ["l1", "hellinger"], "n_neighbors": 3}
        if name == "there":
            options["client"] = client
        backend = "dask" if name == "joblib" else "loky"
        with joblib.parallel_config(backend=backend):
            n = paper.run(X, y, tasks=tasks, path=path, experiment="e", **options)
        assert n == 2 * len(tasks)
        frame = paper.read_results(path).sort_values(["task", "method"])
        same = frame[["task", "method", "seed", "knn_errors", "recall"]]
        frames.append(same.to_numpy().tolist())
    assert str(frames[0]) == str(frames[1]) == str(frames[2])


@pytest.fixture
def labeled(monkeypatch):
    """Make histograms of three classes, in five parts."""
    monkeypatch.setattr(_criterion, "PART", 13)
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 60)
    return rng.gamma(np.eye(3, 12)[y] + 0.5), y


def kill_one(client):
    pids = client.run(os.getpid)
    os.kill(pids[min(pids)], signal.SIGKILL)


def tasks_of(client):
    """List what is on the cluster."""
    gc.collect()  # tracebacks of errors keep what they were about
    return client.run_on_scheduler(
        lambda dask_scheduler: {str(key) for key in dask_scheduler.tasks}
    )


def is_idle(client, before):
    """Return whether nothing new is left; the cluster notices a bit later."""
    for _ in range(100):
        if not tasks_of(client) - before:
            return True
        time.sleep(0.1)
    return False


LEARNERS = {
    "margin": {},
    "neighborhood": {"criterion": "neighborhood"},
    "inner steps": {"criterion": gm.Neighborhood(n_similar=2, inner_steps=2)},
    "targets": {"criterion": gm.Margin(n_targets=2), "max_steps": 3},
}


@pytest.mark.parametrize("name", LEARNERS)
def test_learning_on_two_workers(client, labeled, name):
    options = {"max_steps": 5, "tol": 0.0, **LEARNERS[name]}
    before = tasks_of(client)
    here = gm.GroundMetricLearning(**options).fit(*labeled)
    there = gm.GroundMetricLearning(**options).fit(*labeled, client=client)
    np.testing.assert_array_equal(there.metric_, here.metric_)
    for column in ("criterion", "n_triplets", "n_clear"):
        a, b = (learner.path_.column(column) for learner in (there, here))
        np.testing.assert_array_equal(a, b)
    # Shards do not share what they solve.
    a, b = (learner.path_.column("n_solves").sum() for learner in (there, here))
    assert b < a < 2 * b
    assert is_idle(client, before)


@pytest.mark.parametrize("name", ["margin", "neighborhood"])
def test_gradients_of_shards_are_not_kept(client, labeled, name, monkeypatch, request):
    monkeypatch.setattr(_criterion, "PART", 6)
    monkeypatch.setattr(_cluster, "FETCHED", 2)
    options = {"criterion": name, "max_steps": 2, "tol": 0.0}
    expected = gm.GroundMetricLearning(**options).fit(*labeled)
    alive = count_evaluations(monkeypatch, request)
    learner = gm.GroundMetricLearning(**options).fit(*labeled, client=client)
    n_sums = 2 if name == "margin" else 4  # a step linearizes and evaluates C_k
    assert len(alive) == n_sums * 10
    # Those fetched together, the last one, and the tangent of C_k.
    assert max(alive) <= 4
    np.testing.assert_array_equal(learner.metric_, expected.metric_)


def test_learning_from_similarities_on_two_workers(client, labeled):
    X, y = labeled
    rng = np.random.default_rng(4)
    strength = rng.uniform(0.2, 1.0, (60, 60))
    omega = np.where(y[:, None] == y, 1.0, -1.0) * (strength + strength.T)
    np.fill_diagonal(omega, 0.0)
    here, there = (
        gm.GroundMetricLearning(max_steps=3).fit(X, similarity=omega, client=one)
        for one in (None, client)
    )
    np.testing.assert_array_equal(there.metric_, here.metric_)


@pytest.mark.parametrize("method", ["target_distances", "sum_of_part"])
def test_a_killed_worker_does_not_change_the_metric(
    client, labeled, method, monkeypatch
):
    """Kill a worker between steps, or between targets and impostors of a step."""
    client.wait_for_workers(2)
    call, calls = Shards.call, []

    def lethal(self, name, *arguments):
        calls.append(name)
        if name == method and calls.count(name) == 3:
            kill_one(client)
        return call(self, name, *arguments)

    monkeypatch.setattr(Shards, "call", lethal)
    options = {"criterion": gm.Margin(floor=0.0), "max_steps": 5, "tol": 0.0}
    learner = gm.GroundMetricLearning(**options)
    with pytest.warns(UserWarning, match=r"worker of the cluster was lost; \d of 5"):
        learner.fit(*labeled, client=client)
    expected = gm.GroundMetricLearning(**options).fit(*labeled)
    np.testing.assert_array_equal(learner.metric_, expected.metric_)
    assert calls == ["target_distances", "sum_of_part"] * 5


def test_a_fit_goes_on_elsewhere(client, labeled, tmp_path):
    """Interrupt a fit on the cluster, and end it on this machine."""

    def stop(step):
        if step.outer == 2:
            raise KeyboardInterrupt

    options = {"max_steps": 5, "tol": 0.0}
    saved = gm.Checkpoint(tmp_path / "state.npz")
    with pytest.raises(KeyboardInterrupt):
        gm.GroundMetricLearning(callbacks=[stop, saved], **options).fit(
            *labeled, client=client
        )
    seen = []
    again = gm.GroundMetricLearning(callbacks=[seen.append, saved], **options).fit(
        *labeled
    )
    assert len(seen) < 5
    expected = gm.GroundMetricLearning(tol=0.0, max_steps=5).fit(*labeled)
    np.testing.assert_array_equal(again.metric_, expected.metric_)


def test_who_learns_on_a_cluster(client, labeled):
    search = gm.MetricLearningCV(gm.GroundMetricLearning(max_steps=2), {}, cv=2)
    there = search.fit(*labeled, client=client).metric_
    np.testing.assert_array_equal(there, search.fit(*labeled).metric_)
    with pytest.raises(ValueError, match="client is given, but batch_size is 20"):
        gm.GroundMetricLearning(batch_size=20).fit(*labeled, client=client)
    with pytest.raises(ValueError, match="client is 3; a dask"):
        gm.GroundMetricLearning().fit(*labeled, client=3)
    with pytest.raises(ValueError, match="a SinkhornMetricLearning learns on one"):
        gm.MetricLearningCV(gm.SinkhornMetricLearning(), {}).fit(
            *labeled, client=client
        )


@pytest.mark.parametrize("kind", ["metric", "asymmetric", "points"])
def test_dask_arrays_in_and_out(data, kind):
    X, points = data
    given = {"points": points}
    if kind != "points":
        given = {"metric": cdist(points, points)}
        given["metric"][0, 1] += kind == "asymmetric"
    lazy = da.from_array(X, chunks=(17, 8))
    found = gm.pairwise_emd(lazy, **given)
    assert isinstance(found, da.Array)
    assert found.chunks == ((17, 17, 17, 9),) * 2
    expected = gm.pairwise_emd(X, **given)
    np.testing.assert_array_equal(found.compute(scheduler="sync"), expected)
    part = gm.pairwise_emd(lazy[:5], lazy, **given).compute(scheduler="threads")
    np.testing.assert_array_equal(part, gm.pairwise_emd(X[:5], X, **given))


def test_bad_input_in_a_sentence(data):
    X, points = data
    lazy = da.from_array(X, chunks=20)
    for options, message in (
        ({"client": 3}, "client is 3; a dask.distributed.Client is needed"),
        ({"out": "x.npy", "X": lazy}, "X or Y is a Dask array, so the result is one"),
        ({"Y": X, "X": lazy}, "Y is ndarray, but the other is a Dask array"),
    ):
        call = {"X": X, "points": points} | options
        with pytest.raises(ValueError, match=message):
            gm.pairwise_emd(call.pop("X"), **call)
