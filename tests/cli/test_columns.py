"""Columns are recognized as labels, bins or neither, or rejected."""

import json

import numpy as np
import pandas as pd
import pytest
from samples import X, Y, csv_of

from groundmetric import GroundMetricLearning

NAMES = list("abc")


def test_the_index_of_a_frame_is_no_bin(folder, run):
    frame = pd.DataFrame(X, columns=NAMES).assign(kind=Y)
    frame.sample(frac=1, random_state=0).to_parquet(folder / "rows.parquet")
    found = run("fit", "rows.parquet", "--max-steps", "1")
    assert found.stderr.startswith("ids: the index, '__index_level_0__'\n")
    model = GroundMetricLearning.load("model.npz")
    assert model.feature_names_in_.tolist() == NAMES


def test_the_test_histograms_may_have_their_columns_in_another_order(folder, run):
    (folder / "same.csv").write_text(csv_of(X[::2], Y[::2]))
    (folder / "turned.csv").write_text(csv_of(X[::2, ::-1], Y[::2], "c,b,a,kind"))
    pages = []
    for test in ("same.csv", "turned.csv"):
        line = ["report", "data.csv", "--test", test, "--no-learners"]
        assert run(*line).exit_code == 0  # the times of others would differ
        page = (folder / "report.html").read_text(encoding="utf-8")
        pages.append(page.split('id="settings"')[0])  # there, the files differ
    assert pages[0] == pages[1]
    (folder / "other.csv").write_text(csv_of(X, Y, "a,b,d,kind"))
    found = run("report", "data.csv", "--test", "other.csv")
    assert found.exit_code == 2
    assert found.stderr == ("error: other.csv has no column 'c', which data.csv has.\n")


def test_queries_may_have_their_columns_in_another_order(folder, run):
    (folder / "base.csv").write_text("a,b,c\n1,0,0\n0,0,1\n")
    line = ["distances", "base.csv", "--metric", "line.npy", "--queries", "-"]
    # All mass in bin a, then all in bin b.
    found = run(*line, input="c,b,a\n0,0,1\n0,1,0\n")
    assert found.stdout == "0,2\n1,1\n"


def test_a_column_that_numbers_the_rows_is_pointed_to(folder, run):
    numbered = [[i, *row] for i, row in enumerate(X, start=1)]
    (folder / "numbered.csv").write_text(csv_of(numbered, Y, "x,a,b,c,kind"))
    found = run("fit", "numbered.csv", "--max-steps", "1")
    assert "column 'x' is used as a bin, but it numbers the rows" in found.stderr
    assert "--ignore x" in found.stderr
    found = run("fit", "numbered.csv", "--max-steps", "1", "--ignore", "x")
    assert "numbers the rows" not in found.stderr
    (folder / "id.csv").write_text(csv_of(numbered, Y, "id,a,b,c,kind"))
    found = run("fit", "id.csv", "--max-steps", "1")
    assert found.exit_code == 0
    assert "\nids: column 'id'\n" in found.stderr


def test_a_column_of_numbers_is_never_taken_for_labels(folder, run):
    (folder / "kinds.csv").write_text(csv_of(X, np.repeat([1, 2], 4)))
    for command in ("fit", "evaluate", "report"):
        found = run(command, "kinds.csv")
        assert found.exit_code == 2
        assert found.stderr == (
            "error: kinds.csv has no text column to use as labels; name the "
            "column of labels with --label, or give a file of labels with --labels.\n"
        )
    found = run("report", "data.csv", "--test", "kinds.csv")
    assert found.stderr.endswith("give a file of labels with --test-labels.\n")
    assert classes_of(run, "kinds.csv", "--label", "kind") == ([1, 2], [])


def test_fit_says_how_to_evaluate_the_same_data(folder, run):
    (folder / "a b.csv").write_text(csv_of(X, Y, "a,b,id,kind"))
    found = run("fit", "a b.csv", "--label", "kind", "--ignore", "id")
    command = "groundmetric evaluate 'a b.csv' --label kind --ignore id"
    assert found.stderr.endswith(f"Did it help? {command}\n")


def test_a_matrix_keeps_its_names(run):
    text = ",a,b,c\na,0,1,5\nb,1,0,1\nc,5,1,0\n"
    # Of the one broken triangle, each side takes a third of 5 - 1 - 1.
    assert run("project", "-", input=text).stdout == (
        ",a,b,c\na,0,2,4\nb,2,0,2\nc,4,2,0\n"
    )
    found = run("check", "-", input=text)
    assert found.stdout.splitlines()[-2].split() == ["a", "c", "b", "3"]
    header_only = "a,b,c\n0,2,4\n2,0,2\n4,2,0\n"
    assert run("project", "-", input=header_only).stdout == header_only


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "fit data.npz --label 2",
            "--label is for CSV and other tables, not data.npz.",
        ),
        ("evaluate data.npz --ignore 0", "--ignore is for CSV and other tables"),
        ("distances X.npy --metric line.npy --no-header", "--header is for CSV"),
        ("fit images --label 0", "--label is for CSV and other tables, not images."),
        ("fit images --labels y.txt", "--labels: the subfolders of images are"),
    ],
)
def test_options_that_would_be_ignored_are_refused(line, message, folder, run):
    (folder / "images" / "left").mkdir(parents=True)
    found = run(*line.split())
    assert found.exit_code == 2
    assert found.stderr.startswith(f"error: {message}")


def test_options_about_columns_may_be_for_the_other_file(folder, run):
    (folder / "query.csv").write_text("id,a,b,c\n9,0,1,0\n")
    line = "distances X.npy --metric line.npy --queries query.csv --ignore id"
    assert run(*line.split()).stdout.count(",") == len(X) - 1


def test_labels_that_would_be_read_as_one_are_refused(folder, run):
    (folder / "ids.csv").write_text(csv_of(X, 2**53 + np.arange(8) % 4))
    found = run("fit", "ids.csv", "--label", "kind")
    assert found.exit_code == 2
    assert found.stderr == (
        "error: ids.csv, line 2, column 'kind': 9.0072e+15 is too large for a "
        "numeric label; write a letter before it.\n"
    )


def classes_of(run, *line):
    found = run("fit", *line, "--max-steps", "1", "--json")
    assert found.exit_code == 0
    warned = [line for line in found.stderr.splitlines() if "warning: label" in line]
    return json.loads(found.stdout)["classes"], warned


@pytest.mark.parametrize(
    ("labels", "classes", "message"),
    [
        (["01", "1"], ["01", "1"], ["labels '01' and '1' are taken as two classes"]),
        (["nan", "1"], ["1", "nan"], ["label 'nan' is taken as the name of a class"]),
        (["01", "02"], [1, 2], []),
    ],
)
def test_labels_that_look_like_numbers_are_told_apart(
    labels, classes, message, folder, run
):
    y = np.repeat(labels, 4)
    (folder / "codes.csv").write_text(csv_of(X, y))
    (folder / "codes.txt").write_text("\n".join(y))
    pd.DataFrame(X, columns=NAMES).assign(kind=y).to_parquet(folder / "codes.parquet")
    wanted = (classes, [f"warning: {text}" for text in message])
    assert classes_of(run, "codes.csv", "--label", "kind") == wanted
    assert classes_of(run, "codes.parquet", "--label", "kind") == wanted
    assert classes_of(run, "X.npy", "--labels", "codes.txt") == wanted


def test_huge_numbers_in_a_file_of_labels_are_names(folder, run):
    ids = [str(2**53), str(2**53 + 1)]
    (folder / "ids.txt").write_text("\n".join(4 * ids))
    assert classes_of(run, "X.npy", "--labels", "ids.txt")[0] == ids


def test_labels_do_not_count_class_names_from_the_end(folder, run):
    np.savez("ends.npz", X=X, y=-(np.arange(8) % 2), class_names=["l", "r"])
    found = run("fit", "ends.npz")
    assert found.exit_code == 2
    assert "y does not index class_names: a number is negative" in found.stderr
    assert not (folder / "model.npz").exists()


def test_report_on_what_was_seen(model, folder, run):
    (folder / "test.csv").write_text(csv_of([*X[:3], [1, 9, 1]], [*Y[:3], "right"]))
    for more in ([], ["--model", model]):
        line = ["report", "data.csv", "--test", "test.csv", "--no-learners"]
        found = run(*line, *more)
        assert "warning: the model was learned from 3 of these" in found.stderr
        page = (folder / "report.html").read_text(encoding="utf-8")
        assert "Warning: 3 of the 4 test histograms are also in" in page
    found = run("report", "data.csv", "--folds", "4", "--no-learners")
    assert found.exit_code == 0
    assert "warning" not in found.stderr
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Warning: " not in page


def test_notes_come_before_the_result_and_what_to_do_next_after_it(run, folder):
    (folder / "more.csv").write_text(csv_of(X, Y))
    lines = run("fit", "more.csv", "--limit", "6").output.splitlines()
    starts = ("labels: ", "learning from 6", "Learned from 6", "Model: ", "Did it help")
    assert [
        line[: len(start)] for line, start in zip(lines, starts, strict=True)
    ] == list(starts)
