"""Wrong uses: one line, exit code 2, nothing written."""

import os
import pickle
import shlex
import zipfile

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from samples import LINE, X, Y, csv_of

ROWS = [[4, 1, 1], [1, 1, 4]]


def text(name, content):
    return lambda folder: (folder / name).write_text(content)


def table(rows, labels="lr", names="a,b,c,kind"):
    return text("bad.csv", csv_of(rows, labels, names))


def matrix(rows):
    return text("m.csv", "\n".join(",".join(map(str, row)) for row in rows))


def array(name, values):
    return lambda folder: np.save(folder / name, values)


def pickled(folder):
    np.save(folder / "bad.npy", np.array([{}, []], dtype=object), allow_pickle=True)


def doubled(folder):
    table = pa.Table.from_arrays([[4, 1], [1, 4], ["l", "r"]], names=["a", "a", "kind"])
    parquet.write_table(table, folder / "bad.parquet")


def only_pickle(folder):
    (folder / "bad.npy").write_bytes(pickle.dumps([1]))


def corrupt(folder):
    content = bytearray((folder / "data.npz").read_bytes())
    content[60:90] = bytes(30)
    (folder / "bad.npz").write_bytes(content)


def locked(folder):
    content = bytearray((folder / "data.npz").read_bytes())
    content[content.index(b"PK\1\2") + 8] |= 1  # the flag of a password
    (folder / "bad.npz").write_bytes(content)


def other_zip(folder):
    with zipfile.ZipFile(folder / "bad.npz", "w") as file:
        file.writestr("readme.txt", "no arrays")


def made(name):
    return lambda folder: (folder / name).mkdir()


NOTHING = made("empty")
CASES = {
    "no file": ("fit none.csv", NOTHING, "none.csv: no such file or folder"),
    "unknown kind": ("fit a.ods", text("a.ods", ""), "a.ods has an unknown format"),
    "no sheet": ("fit a.xlsx", text("a.xlsx", ""), "a.xlsx is damaged, or not an Ex"),
    "no AnnData": ("fit a.h5ad", text("a.h5ad", ""), "a.h5ad is damaged, or not an"),
    "no gzip": (
        "fit a.csv.gz",
        lambda folder: (folder / "a.csv.gz").write_bytes(b"\x1f\x8bno"),
        "a.csv.gz is damaged gzip",
    ),
    "empty file": ("fit bad.csv", text("bad.csv", ""), "bad.csv is empty"),
    "blank file": ("fit bad.csv", text("bad.csv", " \n\n"), "bad.csv is empty"),
    "header only": ("fit bad.csv", text("bad.csv", "a,b\n"), "a header, but no rows"),
    "not text": (
        "fit bad.csv",
        lambda folder: (folder / "bad.csv").write_bytes(b"a,b\n\xff\x01,1\n"),
        "bad.csv is not text, neither UTF-8 nor Latin-1",
    ),
    "no header": (
        "fit bad.csv", text("bad.csv", "1,2,0\n2,1,1\n"), "line 1: only numbers",
    ),
    "a row for a header": (
        "fit bad.csv", text("bad.csv", "3,2,x\n2,1,y\n"), "numbers beside text",
    ),
    "open quote": ("fit bad.csv", text("bad.csv", 'a,k\n"1,x\n'), "bad.csv, line 2: "),
    "ragged": (
        "fit bad.csv", text("bad.csv", "a,b,k\n1,2,x\n1,y\n"), "line 3: 2 cells",
    ),
    "no such column": ("fit data.csv --label sort", NOTHING, "--label is 'sort'"),
    "column too far": ("fit data.csv --label 4", NOTHING, "--label is '4'"),
    "no such column to ignore": ("fit data.csv --ignore d", NOTHING, "--ignore is 'd'"),
    "label ignored": (
        "fit data.csv --label kind --ignore kind", NOTHING, "both name 'kind'",
    ),
    "nothing left": (
        "fit bad.csv", text("bad.csv", "k\nx\ny\n"), "no column left",
    ),
    "two columns of text": (
        "fit bad.csv", text("bad.csv", "u,a,k\np,1,x\nq,2,y\n"), "'u' and 'k'",
    ),
    "the same name twice": (
        "fit bad.csv --label a", table(ROWS, names="a,b,c,a"), "has two columns 'a'",
    ),
    "the same name twice, by position": (
        "fit bad.csv", table(ROWS, names="a,b,a,kind"), "bad.csv has two columns 'a'.",
    ),
    "the same name twice in queries": (
        "distances data.csv --metric line.npy --queries bad.csv",
        table(ROWS, names="a,b,b,kind"),
        "bad.csv has two columns 'b'.",
    ),
    "the same name twice in tests": (
        "report data.csv --test bad.csv",
        table(ROWS, names="a,b,c,c"),
        "bad.csv has two columns 'c'.",
    ),
    "the same name twice in a start": (
        "fit data.csv --init m.csv",
        text("m.csv", "a,b,a\n0,1,2\n1,0,1\n2,1,0\n"),
        "m.csv has two columns 'a'.",
    ),
    "the same name twice in a matrix": (
        "check m.csv", text("m.csv", "a,a\n0,1\n1,0\n"), "m.csv has two columns 'a'.",
    ),
    "the same name twice in parquet": (
        "fit bad.parquet", doubled, "bad.parquet has two columns 'a'.",
    ),
    "a decimal comma": (
        "fit bad.csv",
        text("bad.csv", "a;b;kind\n1;2.5;x\n0,5;1;y\n"),
        "bad.csv, line 3, column 'a': '0,5' has a decimal comma; write a point, 0.5",
    ),
    "commas that may separate thousands": (
        "fit bad.csv",
        text("bad.csv", 'a,b,kind\n"1,500",1,x\n"2,250",2,y\n'),
        "bad.csv, line 2, column 'a': '1,500' may have a decimal comma",
    ),
    "decimal commas in a matrix": (
        "check m.csv", text("m.csv", "0;0,5\n0,5;0\n"), "'0,5' has a decimal comma",
    ),
    "a percent sign": (
        "fit bad.csv",
        table([["12%", 1, 1], ["50 %", 1, 4]]),
        "line 2, column 'a': '12%' has a percent sign; write only the number, 12.",
    ),
    "a line of commas": (
        "fit bad.csv",
        text("bad.csv", "a,b,k\n,,\n1,1,x\n   \n-1,2,y\n,,\n"),
        "bad.csv, line 5, column 'a' is -1",
    ),
    "a quote left open at the end": (
        "fit bad.csv", text("bad.csv", 'a,k\n1,x\n2,"y\n'), "unexpected end of data",
    ),
    "text in numbers": (
        "fit bad.csv",
        table([[4, 1, 1], [1, "lots", 4], [1, 1, 4]], "llr"),
        "bad.csv, line 3, column 'b': 'lots' is not a number",
    ),
    "a number of Python": (
        "fit bad.csv", table([[4, "1_0", 1], [1, 2, 4]]), "'1_0' is not a number",
    ),
    "empty cell": (
        "fit bad.csv", table([[4, "", 1], [1, 2, 4]]),
        "bad.csv has 1 missing cell in 1 of 2 rows: 1 empty (line 2, column 'b'); read",
    ),
    "negative": (
        "fit bad.csv", table([[4, 1, 1], [1, -2, 4]]), "line 3, column 'b' is -2",
    ),
    "nan": (
        "fit bad.csv", table([["nan", 1, 1], ROWS[1]]), "1 'NaN' (line 2, column 'a')",
    ),
    "infinite": ("fit bad.csv", table([[4, 1, "inf"], ROWS[1]]), "column 'c' is inf"),
    "zero mass": (
        "fit bad.csv", table([ROWS[0], [0, 0, 0]]), "line 3 has zero mass",
    ),
    "one class": ("fit bad.csv", table(ROWS, "ll"), "all labels are l; two classes"),
    "no label": ("fit bad.csv", table(ROWS, ["l", ""]), "column 'kind': no label"),
    "a bin as label": (
        "fit bad.csv", table(ROWS, [0.5, 0.25]), "has no text column to use as",
    ),
    "no labels": ("fit X.npy", NOTHING, "X.npy has no labels; give them with --labels"),
    "unequal lengths": (
        "fit X.npy --labels l.txt", text("l.txt", "x\ny\n"), "2 labels for 8",
    ),
    "labels in columns": (
        "fit X.npy --labels l.txt", text("l.txt", "x,1\n"), "but X.npy has no ids",
    ),
    "no labels file": ("fit X.npy --labels none.txt", NOTHING, "none.txt: No such"),
    "negative array": (
        "distances bad.npy --metric line.npy", array("bad.npy", -X), "column 0 is -4",
    ),
    "cube": (
        "distances bad.npy --metric line.npy", array("bad.npy", X[None]),
        "bad.npy has shape",
    ),
    "pickled npy": ("fit bad.npy", pickled, "bad.npy does not hold a plain array"),
    "a pickle": ("fit bad.npy", only_pickle, "bad.npy does not hold a plain array"),
    "corrupt npz": ("fit bad.npz", corrupt, "bad.npz has no arrays X and y"),
    "locked npz": ("fit bad.npz", locked, "bad.npz has no arrays X and y: File"),
    "text for an archive": (
        "fit bad.npz", text("bad.npz", "hello"), "bad.npz is not an .npz file, despite",
    ),
    "other zip": ("fit bad.npz", other_zip, "bad.npz has no arrays X and y"),
    "no parquet": ("fit a.parquet", text("a.parquet", "x"), "a.parquet is damaged"),
    "folder without classes": (
        "fit empty", NOTHING, "empty is a folder, which needs a subfolder of images",
    ),
    "folder without images": (
        "fit .", NOTHING, "no class has 1 usable image.",
    ),
    "unknown feature": ("fit data.csv --feature sift", NOTHING, "'--feature'"),
    "bad number": ("fit data.csv --step-size big", NOTHING, "'--step-size'"),
    "bad step": ("fit data.csv --step-size -1", NOTHING, "--step-size is -1.0"),
    "bad neighbors": ("fit data.csv --neighbors -2", NOTHING, "--neighbors is -2; it"),
    "no threads": ("fit data.csv --jobs 0", NOTHING, "--jobs is 0; use 1 for one"),
    "bad start": ("fit data.csv --init none.csv", NOTHING, "none.csv: No such file"),
    "no such start": (
        "fit data.csv --init foo",
        NOTHING,
        "--init is foo: No such file; use uniform, typical, independence, or the file",
    ),
    "start is not a metric": (
        "fit data.csv --init m.csv", matrix([[0, 1, 5], [1, 0, 1], [5, 1, 0]]), "init",
    ),
    "limit too small": ("fit data.csv --limit 1", NOTHING, "but there are 2 classes"),
    "limit of classes": ("evaluate data.csv --limit 1", NOTHING, "there are 2 classes"),
    "no argument": ("fit", NOTHING, "Missing argument 'DATA'"),
    "unknown command": ("learn data.csv", NOTHING, "No such command 'learn'"),
    "unknown option": ("fit data.csv --fast", NOTHING, "No such option: --fast"),
    "out into no folder": (
        "fit data.csv --out none/m.npz", NOTHING, "there is no folder none",
    ),
    "out is a folder": ("fit data.csv --out d.npz", made("d.npz"), "which is a folder"),
    "out of another kind": ("fit data.csv --out m.txt", NOTHING, "it must end in .npz"),
    "out cannot be written": (
        f"fit data.csv --out {'n' * 250}.npz", NOTHING, "cannot be written",
    ),
    "no model": ("distances data.csv --model none.npz", NOTHING, "none.npz: No such"),
    "data for a model": (
        "distances data.csv --model data.npz", NOTHING, "not a file of groundmetric",
    ),
    "text for a model": (
        "evaluate data.csv --model data.csv", NOTHING, "not a file of groundmetric",
    ),
    "no metric": ("distances data.csv", NOTHING, "Give either --model or --metric"),
    "other bins": (
        "distances data.csv --metric m.csv", matrix([[0, 1], [1, 0]]), "3 bins",
    ),
    "asymmetric metric": (
        "distances data.csv --metric m.csv",
        matrix([[0, 1, 2], [1, 0, 1], [1, 1, 0]]),
        "the matrix must be symmetric",
    ),
    "negative metric": (
        "distances data.csv --metric m.csv", matrix(-LINE), "must not be negative",
    ),
    "too many neighbors": (
        "distances data.csv --metric line.npy --neighbors 8", NOTHING, "at most 7",
    ),
    "neighbors as npy": (
        "distances data.csv --metric line.npy --neighbors 2 --out n.npy",
        NOTHING,
        "it must end in .csv or .npz",
    ),
    "standard input twice": (
        "distances - --queries - --metric line.npy", NOTHING, "both be standard input",
    ),
    "not square": ("project m.csv", matrix([[0, 1, 2], [1, 0, 1]]), "must be square"),
    "text in a matrix": ("check m.csv", matrix([[0, 1], ["x", 0]]), "'x' is not a num"),
    "nan in a matrix": ("check m.csv", matrix([[0, "nan"], [1, 0]]), "must be finite"),
    "no matrix": ("check none.npy", NOTHING, "none.npy: No such file"),
    "bad tolerance": ("check line.npy --tol -1", NOTHING, "--tol is -1.0"),
    "fewer than no triangles": ("check line.npy --worst -1", NOTHING, "--worst is -1"),
    "too many folds": ("evaluate data.csv --folds 5", NOTHING, "--folds is 5"),
    "too many votes": (
        "evaluate data.csv --folds 2 --neighbors 5", NOTHING, "--neighbors is 5",
    ),
    "labels of no test": (
        "report data.csv --test-labels l.txt", text("l.txt", "x\n"), "needs --test",
    ),
    "report as text": ("report data.csv --out r.txt", NOTHING, "it must end in .html"),
    "too few to report on": ("report bad.csv", table(ROWS), "each fold needs one"),
    "demo into no folder": ("demo --out none/d.html", NOTHING, "no folder none"),
}  # fmt: skip


def files(folder):
    return {
        path: path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize("case", CASES)
def test_one_line_and_nothing_written(case, folder, run):
    line, prepare, sentence = CASES[case]
    prepare(folder)
    before = files(folder)
    found = run(*shlex.split(line))
    assert found.exit_code == 2
    (message,) = found.stderr.splitlines()
    assert message.startswith("error: ")
    assert sentence in message
    assert found.stdout == ""
    assert files(folder) == before


def test_other_bins_than_the_model(model, folder, run):
    (folder / "bad.csv").write_text(csv_of(X[:, :2], Y, "a,b,kind"))
    np.savez("bad.npz", X=X[:, :2], y=Y)
    for command in ("distances", "evaluate", "report"):
        found = run(command, "bad.csv", "--model", model)
        assert found.exit_code == 2
        assert found.stderr == (
            "error: bad.csv has no column 'c', which the model was learned from.\n"
        )
        found = run(command, "bad.npz", "--model", model)
        assert found.exit_code == 2
        assert found.stderr == "error: bad.npz has 2 bins, but the metric has 3.\n"
    assert not (folder / "report.html").exists()


@pytest.mark.parametrize(
    ("more", "sizes"), [("", "8 x 8 distances are"), ("--queries q.npy", "1 x 8")]
)
def test_more_distances_than_memory(more, sizes, folder, run, monkeypatch):
    np.save(folder / "q.npy", X[:1])
    monkeypatch.setattr("groundmetric.cli._distances.memory", lambda: 8 * 8 - 1)
    monkeypatch.setattr("groundmetric.cli._distances.pairwise_emd", None)  # not called
    found = run(*f"distances X.npy --metric line.npy {more}".split())
    assert found.exit_code == 2
    assert found.stderr.startswith(f"error: All {sizes}")
    assert found.stderr.endswith("--neighbors, or use fewer histograms as --queries.\n")


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_read_only_folder(folder, run):
    (folder / "locked").mkdir(mode=0o500)
    found = run("fit", "data.csv", "--out", "locked/m.npz")
    assert found.exit_code == 2
    assert "cannot be written: Permission denied" in found.stderr
