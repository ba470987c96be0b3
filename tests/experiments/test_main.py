"""The command."""

import numpy as np
import pytest

from groundmetric.experiments import FIGURE_3, FIGURE_4, METHODS, read_results
from groundmetric.experiments.__main__ import experiments, main, parser


@pytest.fixture
def data(tmp_path):
    """Two classes of 45 on 4 bins, numbered and named."""
    rng = np.random.default_rng(0)
    X = np.concatenate(
        [rng.dirichlet([4, 2, 1, 1], 45), rng.dirichlet([1, 1, 2, 4], 45)]
    )
    path = tmp_path / "tiny.npz"
    np.savez(path, X=X, y=np.repeat([0, 1], 45), class_names=["left", "right"])
    return path


def test_runs_exports_and_goes_on(data, tmp_path, capsys):
    out, copy = tmp_path / "r.sqlite", tmp_path / "r.parquet"
    arguments = [
        str(data),
        "--classes",
        "1",
        "--seed",
        "3",
        "--out",
        str(out),
        "--quiet",
    ]
    main([*arguments, "--methods", "l1"])
    main([*arguments, "--methods", "l1", "hellinger", "--export", str(copy)])
    assert capsys.readouterr().out.splitlines() == [
        f"tiny/1x1-seed3: 1 new rows in {out}",
        f"tiny/1x1-seed3: 1 new rows in {out}",
    ]
    frame = read_results(copy)
    assert frame["method"].tolist() == ["hellinger", "l1"]
    assert set(frame["classes"]) <= {"left | right", "right | left"}
    assert set(frame["seed"]) == {3}
    assert (frame["n_train"] == 60).all()
    assert (frame["n_test"] == 30).all()
    assert [len(errors) for errors in frame["knn_errors"]] == [20, 20]


def test_digits_without_a_file(tmp_path, capsys):
    out = tmp_path / "r.sqlite"
    main(["--methods", "l1", "--out", str(out), "--experiment", "mine"])
    captured = capsys.readouterr()
    assert captured.out == f"mine: 4 new rows in {out}\n"
    assert "4/4" in captured.err  # the bar
    assert (read_results(out)["n_test"] == 80).all()


def test_figures_of_one_size_share_an_experiment():
    options = parser().parse_args(["file.npz", "--figure", "1", "2", "3", "4"])
    found = experiments(options, 30)
    assert list(found) == [25, 10]
    assert sorted(found[10]) == sorted({*FIGURE_3, *FIGURE_4})
    assert all(set(methods) < set(METHODS) for methods in found.values())
    # All of them, if there are not so many classes.
    (methods,) = experiments(options, 10).values()
    assert sorted(methods) == sorted({*found[25], *found[10]})


def test_bad_files(tmp_path):
    np.savez(tmp_path / "other.npz", Z=[1])
    with pytest.raises(ValueError, match=r"other\.npz has no arrays X and y"):
        main([str(tmp_path / "other.npz")])
    with pytest.raises(FileNotFoundError):
        main([str(tmp_path / "none.npz")])
