"""Every command on small, valid data."""

import json
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from samples import LINE, X, Y, csv_of

from groundmetric import GroundMetricLearning, __version__, pairwise_emd
from groundmetric.base._powers import raised
from groundmetric.cli import _data
from groundmetric.cli._options import Source
from groundmetric.datasets._read_rows import read_rows
from groundmetric.datasets._text import Text

ROWS = X / X.sum(axis=1, keepdims=True)


def fitted(path="model.npz"):
    return GroundMetricLearning.load(path)


def test_fit_a_csv_as_the_estimator_does(folder, run):
    found = run("fit", "data.csv", "--neighbors", "2", "--max-steps", "3", "--json")
    assert found.exit_code == 0
    assert found.stderr == "labels: column 'kind', the only text column\n"
    facts = json.loads(found.stdout)
    direct = GroundMetricLearning(max_steps=3).fit(ROWS, Y)
    assert facts["n_histograms"] == 8
    assert facts["classes"] == ["left", "right"]
    assert facts["n_steps"] == direct.n_iter_
    assert np.array_equal(fitted().metric_, direct.metric_)
    assert sorted(path.suffix for path in folder.iterdir()).count(".part") == 0


def test_fit_says_what_it_did(folder, run):
    found = run("fit", "data.csv", "--out", "m.npz")
    assert "Learned from 8 histograms over 3 bins, 2 classes" in found.stdout
    assert "Model: m.npz" in found.stdout
    assert (folder / "m.npz").exists()


@pytest.mark.usefixtures("folder")
def test_fit_says_what_the_steps_did_if_it_is_known(run):
    line = ["fit", "data.csv", "--max-steps"]
    assert "2 classes: 1 step.\n" in run(*line, "1").stdout
    two = run(*line, "2").stdout
    assert "2 classes: 2 steps, criterion (lower is better) from " in two


def test_all_formats_are_the_same_data(folder, run):
    np.save("y.npy", Y)
    (folder / "y.txt").write_text("\n".join(Y))
    (folder / "semicolons.tsv").write_text(csv_of(X, Y).replace(",", ";"))
    (folder / "first.csv").write_text(
        "kind,id,a,b,c\n"
        + "".join(
            f"{label},{i},{','.join(map(str, row))}\n"
            for i, (row, label) in enumerate(zip(X, Y, strict=True))
        )
    )
    plain = csv_of(X, np.repeat([0, 1], 4)).split("\n", 1)[1]
    (folder / "plain.csv").write_text(plain)
    columns = dict(zip("abc", X.T, strict=True))
    parquet.write_table(pa.table({**columns, "kind": Y}), folder / "data.parquet")
    lines = (
        ["data.csv"],
        ["semicolons.tsv"],
        ["first.csv", "--ignore", "id"],
        ["first.csv", "--ignore", "1", "--label", "0"],
        ["plain.csv", "--no-header", "--label", "3"],
        ["X.npy", "--labels", "y.npy"],
        ["X.npy", "--labels", "y.txt"],
        ["data.npz"],
        ["data.parquet", "--label", "kind"],
    )
    metrics = []
    for line in lines:
        assert run("fit", *line, "--max-steps", "1").exit_code == 0
        metrics.append(fitted().metric_)
    found = run("fit", "-", "--max-steps", "1", input=csv_of(X, Y))
    assert found.exit_code == 0
    assert all(np.array_equal(metric, fitted().metric_) for metric in metrics)


def test_parquet_may_have_numbers_as_decimals_or_text(folder, run):
    columns = dict(zip("abc", X.T.tolist(), strict=True))
    columns |= {"a": [Decimal(x) for x in columns["a"]], "b": [*map(str, columns["b"])]}
    parquet.write_table(pa.table(columns | {"kind": Y}), folder / "data.parquet")
    found = run("fit", "data.parquet", "--max-steps", "1")
    assert found.stderr.startswith("labels: column 'kind', the only text column\n")
    direct = GroundMetricLearning(max_steps=1).fit(ROWS, Y)
    assert np.array_equal(fitted().metric_, direct.metric_)


@pytest.mark.usefixtures("images")
def test_fit_a_folder_of_images(run):
    found = run("fit", "images", "--max-steps", "1", "--inner-steps", "2", "--json")
    assert found.exit_code == 0
    assert found.stderr.startswith("warning: 1 image skipped: bars/torn.png")
    assert json.loads(found.stdout)["n_bins"] == 128
    assert fitted().classes_.tolist() == ["bars", "steps"]


def test_limit_draws_class_by_class(folder, run):
    found = run("fit", "data.csv", "--limit", "4", "--json")
    assert json.loads(found.stdout)["n_histograms"] == 4
    assert "learning from 4 of 8 histograms" in found.stderr
    (folder / "rare.csv").write_text(csv_of(X, ["rare", *7 * ["common"]]))
    data = _data.read_labeled(Source("rare.csv"))
    for seed in range(5):
        assert sorted(_data.limited(data, 3, seed, "").y)[1:] == ["common", "rare"]


@pytest.mark.usefixtures("folder")
def test_start_from_a_metric(run):
    assert run("fit", "data.csv", "--init", "line.npy").exit_code == 0
    # Scaled: the median distance is 1.
    first = fitted().initial_metric_
    assert np.allclose(first / first.max(), LINE / LINE.max())


def test_distances(model, folder, run):
    learner = fitted(model)
    metric = learner.metric_
    wanted = pairwise_emd(raised(np.asarray(ROWS), learner.power_), metric=metric)
    found = run("distances", "data.csv", "--model", model)
    assert found.exit_code == 0
    lines = [line.split(",") for line in found.stdout.splitlines()]
    assert np.array_equal(np.array(lines, dtype=float), wanted)
    assert run("distances", "X.npy", "--model", model, "--out", "D.npy").stdout == ""
    assert np.array_equal(np.load("D.npy"), wanted)
    assert run("distances", "X.npy", "--model", model, "--out", "D.csv").exit_code == 0
    assert (folder / "D.csv").read_text() == found.stdout
    facts = json.loads(run("distances", "X.npy", "--model", model, "--json").stdout)
    assert facts == {"shape": [8, 8], "distances": wanted.tolist()}


def test_a_model_knows_its_columns(model, folder, run):
    wanted = run("distances", "X.npy", "--model", model).stdout
    lines = [f"{c},x{i},{a},{i},{b}" for i, (a, b, c) in enumerate(X)]
    (folder / "mixed.csv").write_text("\n".join(["c,name,a,time,b", *lines]))
    found = run("distances", "mixed.csv", "--model", model)
    head, *rows = found.stdout.splitlines()
    assert head == ",x0,x1,x2,x3,x4,x5,x6,x7"
    assert rows == [f"x{i},{row}" for i, row in enumerate(wanted.splitlines())]
    assert found.stderr == (
        "ids: column 'name'\n"
        "left out: column 'time', not among those that the model was learned from\n"
    )
    lines = [f"{i},{a},{b},{c},{y}" for i, ((a, b, c), y) in enumerate(zip(X, Y))]  # noqa: B905
    (folder / "frame.csv").write_text("\n".join([",a,b,c,kind", *lines]))
    found = run("fit", "frame.csv", "--out", "other.npz")
    assert found.stderr.startswith("ids: the column without a name\n")
    assert np.array_equal(fitted("other.npz").metric_, fitted(model).metric_)
    # By position, where columns have no names.
    plain = "\n".join(",".join(map(str, row)) for row in X)
    line = ["distances", "-", "--no-header", "--model", model]
    assert run(*line, input=plain).stdout == wanted


@pytest.mark.usefixtures("folder")
def test_distances_of_queries(run):
    # All mass of a query moves by the line metric: 1 from bin 1, 2 from bin 2.
    np.save("base.npy", [[1, 0, 0], [0, 0, 1]])
    text = "a,b,c,kind\n0,1,0,3\n0,0,2,4\n"
    line = ["distances", "base.npy", "--metric", "line.npy", "--queries", "-"]
    assert run(*line, "--label", "kind", input=text).stdout == "1,1\n2,0\n"
    assert run(*line, input=text).stderr == (
        "error: standard input has 4 bins, but the metric has 3; leave columns out "
        "with --ignore.\n"
    )


def test_neighbors(folder, run):
    (folder / "base.csv").write_text("a,b,c\n1,0,0\n0,3,0\n0,0,1\n")
    (folder / "query.csv").write_text("a,b,c\n0,1,3\n")
    line = ["distances", "base.csv", "--metric", "line.npy", "--neighbors", "2"]
    found = run(*line, "--queries", "query.csv")
    assert found.stdout == "query,rank,neighbor,distance\n0,1,2,0.25\n0,2,1,0.75\n"
    facts = json.loads(run(*line, "--json").stdout)
    assert facts["indices"] == [[1, 2], [0, 2], [1, 0]]
    assert run(*line, "--queries", "query.csv", "--out", "n.npz").exit_code == 0
    with np.load("n.npz") as file:
        assert file["indices"].tolist() == [[2, 1]]


def test_project(folder, run):
    (folder / "m.csv").write_text(",x,y,z\nx,0,1,7\ny,1,0,2\nz,7,2,0\n")
    found = run("project", "m.csv")
    head, first, *_ = (line.split(",") for line in found.stdout.splitlines())
    assert (head, first[0]) == (["", "x", "y", "z"], "x")
    # The violation of 4 is shared by three edges: 7 - 4/3, 1 + 4/3, 2 + 4/3.
    assert np.allclose(np.array(first[1:], dtype=float), [0, 7 / 3, 17 / 3])
    assert "the nearest metric is 3.26599 away" in found.stderr
    facts = json.loads(run("project", "m.csv", "--out", "M.npy", "--json").stdout)
    assert facts["out"] == "M.npy"
    assert facts["distance"] == pytest.approx(np.sqrt(6) * 4 / 3)
    assert run("check", "M.npy").exit_code == 0


def test_check(folder, run):
    found = run("check", "line.npy")
    assert (found.exit_code, found.stdout[:9]) == (0, "A metric:")
    (folder / "m.csv").write_text("0,1,7\n1,0,2\n7,2,0\n")
    found = run("check", "m.csv")
    assert found.exit_code == 1
    assert "violates the triangle inequality by 4" in found.stdout
    facts = json.loads(run("check", "m.csv", "--json").stdout)
    assert facts["worst_triangles"] == [{"i": 0, "j": 2, "k": 1, "amount": 4.0}]
    assert run("check", "m.csv", "--tol", "4").exit_code == 0
    found = run("check", "-", input="0,1\n3,0\n")
    assert found.exit_code == 1
    assert "its halves differ by 2" in found.stdout


def test_info(run):
    assert f"groundmetric   {__version__}" in run("info").stdout
    facts = json.loads(run("info", "--json").stdout)
    assert facts["instructions"] in ("baseline", "avx2", "avx512")
    assert facts["threads"] >= 1
    assert facts["optional_parts"]["images"].startswith("pillow")


def test_numbered_names_are_a_header(folder):
    (folder / "pandas.csv").write_text("0,1,2\n5,6,7\n")
    cells = read_rows(Text("pandas.csv"), header=None)
    assert cells.names == ["0", "1", "2"]
    assert cells.numbers(range(3))[0].tolist() == [[5.0, 6.0, 7.0]]
