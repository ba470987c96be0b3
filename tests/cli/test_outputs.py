"""Nothing is lost: inputs are not written over, and what is replaced is named."""

import errno
import inspect
import os
import shlex
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import typer
from test_wrong_uses import files

import interrupted
from groundmetric import GroundMetricLearning
from groundmetric.cli._app import COMMANDS
from groundmetric.cli._options import INPUT, Output
from started import SCRIPT, finished

COMMAND = [sys.executable, "-m", "groundmetric"]
# Run the command with a file as its standard input (0) or output (1).
TO_A_FILE = """
import os, sys
from groundmetric.cli import main
number, name = int(sys.argv.pop(1)), sys.argv.pop(1)
os.dup2(os.open(name, (os.O_RDONLY, os.O_WRONLY)[number]), number)
if number == 0:
    sys.stdin = os.fdopen(0, closefd=False)
main()
"""
REPLACED = {
    "fit data.csv --out m.npz": "m.npz",
    "distances data.csv --metric line.npy --out d.csv": "d.csv",
    "distances data.csv --metric line.npy --neighbors 2 --out d.npz": "d.npz",
    "project line.npy --out p.csv": "p.csv",
    "report data.csv --folds 4 --no-learners --out r.html": "r.html",
}
# A link where the suffix does not let the file itself be named.
SAME = {
    "fit data.npz --out data.npz": "--out is data.npz, the same file as DATA (data",
    "fit data.npz --out ./data.npz": "--out is data.npz, the same file as DATA (data",
    "fit data.npz --out empty/../data.npz": "the same file as DATA (data.npz)",
    "fit empty/../data.npz --out data.npz": "the same file as DATA (empty/../data",
    "fit data.npz --out {folder}/data.npz": "the same file as DATA (data.npz)",
    "fit soft.npz --out data.npz": "the same file as DATA (soft.npz)",
    "fit data.npz --out soft.npz": "--out is soft.npz, the same file as DATA (data",
    "fit data.npz --out hard.npz": "--out is hard.npz, the same file as DATA (data",
    "fit data.npz --checkpoint hard.npz": "--checkpoint is hard.npz, the same file",
    "fit X.npy --labels l.npz --out l.npz": "the same file as --labels (l.npz)",
    "fit data.csv --init soft.npz --out data.npz": "the same file as --init (soft.npz)",
    "fit data.csv --out m.npz --checkpoint empty/../m.npz": "the same file as --out (m",
    "distances data.csv --metric line.npy --out data.csv": "as DATA (data.csv)",
    "distances data.csv --metric line.npy --out line.npy": "as --metric (line.npy)",
    "distances data.csv --metric line.npy --queries q.csv --out q.csv": "as --queries",
    "distances data.csv --model data.npz --neighbors 1 --out data.npz": "as --model",
    "project line.npy --out line.npy": "--out is line.npy, the same file as MATRIX (li",
    "report data.csv --out link.html": "--out is link.html, the same file as DATA",
    "report data.npz --test data.csv --out link.html": "the same file as --test",
    "report data.npz --test X.npy --test-labels data.csv --out link.html": "as --test-",
    "report X.npy --labels data.csv --out link.html": "the same file as --labels",
    "report X.npy --model data.csv --out link.html": "the same file as --model",
}


@pytest.fixture
def linked(folder):
    """Add other names of the same files."""
    Path("link.html").symlink_to("data.csv")
    Path("soft.npz").symlink_to(folder / "data.npz")
    Path("hard.npz").hardlink_to("data.npz")
    Path("empty").mkdir()
    Path("l.npz").write_text("x\n")
    Path("q.csv").write_text(Path("data.csv").read_text())
    return folder


@pytest.mark.parametrize("line", SAME)
def test_an_output_that_is_an_input_is_refused(line, linked, run, monkeypatch):
    monkeypatch.setattr(GroundMetricLearning, "fit", lambda *_: 1 / 0)
    before = files(linked)
    found = run(*shlex.split(line.format(folder=linked)))
    assert found.exit_code == 2
    (message,) = found.stderr.splitlines()
    assert SAME[line] in message
    assert message.endswith("; choose another name.")
    assert files(linked) == before


@pytest.mark.usefixtures("folder")
def test_standard_input_may_be_the_output():
    before = Path("data.csv").read_bytes()
    line = ["distances", "-", "--metric", "line.npy", "--out", "data.csv"]
    code, _, error = finished(TO_A_FILE, "0", "data.csv", *line)
    assert code == 2
    assert "--out is data.csv, the same file as DATA (-)" in error
    assert Path("data.csv").read_bytes() == before


def test_every_file_of_every_command_is_marked():
    n_outputs = 0
    for command_name in COMMANDS:
        module = import_module(f"groundmetric.cli._{command_name}")
        command = getattr(module, command_name)
        parameters = inspect.signature(command).parameters
        marked = {
            name: [m for m in metadata if m is INPUT or isinstance(m, Output)]
            for name, one in parameters.items()
            if (metadata := getattr(one.annotation, "__metadata__", ()))
        }
        writes = any(isinstance(m, Output) for marks in marked.values() for m in marks)
        assert ("force" in parameters) == writes
        n_outputs += writes
        for name, marks in marked.items():
            kind = str(parameters[name].annotation.__origin__)
            (option,) = (
                m
                for m in parameters[name].annotation.__metadata__
                if isinstance(m, typer.models.ParameterInfo)
            )
            is_file = "Path" in kind or option.metavar in ("FILE", "DATA", "MATRIX")
            if writes and is_file:
                assert len(marks) == 1, f"{command.__name__}: {name}"
    assert n_outputs == 6


@pytest.mark.parametrize("line", REPLACED)
@pytest.mark.usefixtures("folder")
def test_what_is_replaced_is_named(line, run):
    name = Path(REPLACED[line])
    words = shlex.split(line)
    assert "replacing" not in run(*words, "--no-clobber").stderr
    name.write_text("precious")
    found = run(*words, "--no-clobber")
    assert found.exit_code == 2
    assert found.stderr == (
        f"error: --out is {name}, which exists; choose another name, or leave out "
        "--no-clobber.\n"
    )
    assert name.read_text() == "precious"
    found = run(*words)
    assert found.exit_code == 0
    assert f"replacing {name}\n" in found.stderr
    assert b"precious" not in name.read_bytes()
    found = run(*words, "--force")
    assert (found.exit_code, "replacing" in found.stderr) == (0, False)


def test_a_default_name_is_replaced_with_a_note(model, run):
    assert f"replacing {model.name}\n" in run("fit", "data.csv").stderr
    assert run("fit", "data.csv", "--no-clobber").exit_code == 2


@pytest.mark.usefixtures("folder")
def test_ctrl_c_says_how_to_go_on():
    line = ["fit", "data.csv", "--tol", "0", "--checkpoint", "my state", "--json"]
    line += ["--criterion", "neighborhood"]

    def call(how):
        return finished(SCRIPT, interrupted.__file__, how, *line)

    code, out, error = call("SIGINT")
    assert (code, out) == (128 + signal.SIGINT, "")
    assert error.splitlines()[-1] == (
        "interrupted; my state has the work so far. To resume: groundmetric "
        f"{shlex.join(line)}"
    )
    assert Path("my state").exists()
    assert not Path("model.npz").exists()
    code, out, _ = call("none")
    assert code == 0
    assert not Path("my state").exists()
    line[5:6] = ["other"]
    assert call("none")[1] == out
    line[4:6] = []
    assert call("SIGINT")[2].splitlines()[-1] == "interrupted"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
@pytest.mark.usefixtures("folder")
def test_a_full_disk_is_named(run):
    Path("m.npz").symlink_to("/dev/full")
    found = run("fit", "data.csv", "--out", "m.npz")
    assert found.exit_code == 2
    assert found.stderr.startswith("error: m.npz: No space left on device; make room")
    np.savetxt("big.csv", np.zeros((90, 90)), delimiter=",")
    error = "error: standard output: No space left on device\n"
    for line in ("project big.csv", "project line.npy", "info", "info --json"):
        assert finished(TO_A_FILE, "1", "/dev/full", *line.split()) == (2, "", error)
    # Python itself has nothing to add at its end.
    with Path("/dev/full").open("w") as full:
        found = subprocess.run(
            [*COMMAND, "project", "line.npy"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (found.returncode, found.stderr) == (2, error)


@pytest.mark.parametrize("line", REPLACED)
def test_a_disk_that_fills_up_leaves_nothing_behind(line, folder, run, monkeypatch):
    def fail(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fail)
    Path(REPLACED[line]).write_text("precious")
    before = files(folder)
    found = run(*shlex.split(line))
    assert found.exit_code == 2
    assert found.stderr.startswith(f"error: {REPLACED[line]}: No space left")
    assert files(folder) == before


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("fit data.csv --out d.npz", "--out is d.npz, which is a folder."),
        ("fit data.csv --checkpoint d.npz", "--checkpoint is d.npz, which is a folder"),
        ("fit data.csv --checkpoint no/c", "--checkpoint is no/c, but there is no fo"),
        ("project line.npy --out data.csv/m.csv", "but there is no folder data.csv."),
    ],
)
def test_places_that_cannot_be_written(line, sentence, folder, run):
    Path("d.npz").mkdir()
    before = files(folder)
    found = run(*line.split())
    assert found.exit_code == 2
    (message,) = found.stderr.splitlines()
    assert sentence in message
    assert files(folder) == before


@pytest.mark.usefixtures("folder")
def test_a_file_that_is_read_only(run, monkeypatch):
    Path("m.npz").write_text("precious")
    access = os.access

    def locked(path, mode):  # also for root
        if mode == os.W_OK and Path(path).name == "m.npz":
            return False
        return access(path, mode)

    monkeypatch.setattr(os, "access", locked)
    found = run("fit", "data.csv", "--out", "m.npz", "--force")
    assert found.exit_code == 2
    assert "--out is m.npz, which cannot be written: Permission" in found.stderr
    assert Path("m.npz").read_text() == "precious"
