"""A metric with names is about the columns of these names."""

import numpy as np
import pytest
from samples import X, Y, csv_of

from groundmetric import GroundMetricLearning

NAMED = ",b,a,c\nb,0,1,3\na,1,0,2\nc,3,2,0\n"
# The same in the order of the data: a, b, c.
ABC = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0]])


@pytest.fixture(autouse=True)
def metrics(folder):
    (folder / "named.csv").write_text(NAMED)
    np.save(folder / "abc.npy", ABC)


@pytest.mark.parametrize("text", [NAMED, "b,a,c\n0,1,3\n1,0,2\n3,2,0\n"])
def test_distances_go_by_name(text, folder, run):
    (folder / "named.csv").write_text(text)
    (folder / "base.csv").write_text("a,b,c\n1,0,0\n0,0,1\n")
    # All mass in bin b: 1 from bin a, 3 from bin c.
    line = ["distances", "base.csv", "--metric", "named.csv", "--queries", "-"]
    assert run(*line, input="c,b,a\n0,1,0\n").stdout == "1,3\n"
    # By position, where columns have no names: b, a, c.
    line = ["distances", "-", "--no-header", "--metric", "named.csv"]
    assert run(*line, input="1,0,0\n0,0,1\n").stdout == "0,3\n3,0\n"


def test_fit_starts_from_a_metric_by_name(run):
    starts = []
    for line in (["data.csv"], ["X.npy", "--labels", "y.txt"]):
        np.savetxt("y.txt", Y, fmt="%s")
        found = run("fit", *line, "--init", "named.csv", "--max-steps", "1")
        assert found.exit_code == 0
        starts.append(GroundMetricLearning.load("model.npz").initial_metric_)
    assert np.allclose(starts[0] / starts[0][0, 1], ABC)
    # By position, where columns have no names: 1 from b to a, 3 from b to c.
    assert np.allclose(starts[1][0] / starts[1][0, 1], [0, 1, 3])


@pytest.mark.parametrize(
    ("names", "line", "message"),
    [
        ("b,a,d", "distances data.csv --metric", "data.csv has no column 'd', which"),
        ("b,a,d", "fit data.csv --init", "named.csv has no bin 'c', which data.csv"),
        ("b,a,b", "distances data.csv --metric", "named.csv has two columns 'b'."),
        ("a,b,c", "distances X.npy --metric", "named.csv has row 'b' where column 'a'"),
        ("a,b,c", "fit data.csv --init", "named.csv has row 'b' where column 'a' is;"),
    ],
)
def test_other_names_are_refused(names, line, message, folder, run):
    text = NAMED.replace("b,a,c", names, 1)
    (folder / "named.csv").write_text(text.replace("\nc,", f"\n{names[-1]},"))
    found = run(*line.split(), "named.csv")
    assert found.exit_code == 2
    assert found.stderr.startswith(f"error: {message}")
    assert found.stderr.count("\n") == 1


def test_columns_that_the_start_lacks_are_named(folder, run):
    (folder / "few.csv").write_text(csv_of(X[:, :2], Y, "a,b,kind"))
    found = run("fit", "few.csv", "--init", "named.csv")
    assert found.exit_code == 2
    assert found.stderr == "error: few.csv has no column 'c', which named.csv has.\n"
