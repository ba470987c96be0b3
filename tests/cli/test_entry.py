"""The command as a shell sees it: help, completion, a missing typer, a closed pipe."""

import inspect
import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from samples import X, Y, csv_of

from groundmetric import EMDKernel
from groundmetric.cli import _command, _evaluate, _fit, _report, main
from groundmetric.cli._app import COMMANDS, OneLine
from started import finished

# What takes long to import, and what help has no use for.
HEAVY = ("joblib", "matplotlib", "pandas", "pyarrow", "scipy", "sklearn")

# Run the command in a process that has not imported groundmetric yet.
FRESH = """
import sys
for name in [name for name in sys.modules if name.startswith("groundmetric")]:
    if not name.endswith("._core"):  # which cannot be imported twice
        del sys.modules[name]
from groundmetric.cli import main
main()
"""


def test_every_command_has_help_with_examples(run):
    for name, first_line in COMMANDS.items():
        found = run(name, "--help")
        assert first_line in found.stdout.splitlines()[2]
        assert found.exit_code == 0
        assert f"  groundmetric {name}" in found.stdout
    assert all(f"  {name}" in run("--help").stdout for name in COMMANDS)


def test_every_option_has_help():
    for name in COMMANDS:
        for one in OneLine().get_command(None, name).params:
            assert one.name == "context" or one.help, f"{name}: {one.name}"
        command = getattr(import_module(f"groundmetric.cli._{name}"), name)
        described, texts = _command._documented(command.__wrapped__)
        assert "-----" not in described
        assert set(texts) <= set(inspect.signature(command).parameters)
    # Without docstrings (python -OO) there is no help, but all else.
    line = [sys.executable, "-OO", "-m", "groundmetric", "predict", "--help"]
    found = subprocess.run(line, capture_output=True, text=True, check=True)
    assert all(f"--{x}" in found.stdout for x in ("ignore", "feature", "neighbors"))
    assert "--beside" not in found.stdout


def test_the_documentation_is_about_all_commands():
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    assert all(f"groundmetric {name}" in page for name in COMMANDS)
    words = " ".join(page.split())
    assert (
        f"{_fit.LIMIT} rows for `fit`, {_evaluate.LIMIT} for `evaluate`, "
        f"{_report.LIMIT} for `report`"
    ) in words
    # What a line of the page calls for is there.
    known = {
        option
        for name in COMMANDS
        for parameter in OneLine().get_command(None, name).params
        for option in (*parameter.opts, *parameter.secondary_opts)
    }
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", page))
    assert named - {"--help", "--install-completion"} <= known
    assert {"--header", "--no-header", "--test-labels", "--model"} <= named


def test_no_command_shows_the_help(run):
    found = run()
    # Older typer takes it for a success, and writes to standard output.
    assert found.exit_code in (0, 2)
    assert found.output.strip() == run("--help").output.strip()


@pytest.mark.usefixtures("folder")
def test_module_runs_in_a_pipe():
    command = [sys.executable, "-m", "groundmetric"]
    options = {"capture_output": True, "text": True}
    found = subprocess.run(
        [*command, "fit", "-", "--json"], input=csv_of(X, Y), check=False, **options
    )
    assert (found.returncode, json.loads(found.stdout)["n_bins"]) == (0, 3)
    assert found.stderr == "labels: column 'kind', the only text column\n"
    found = subprocess.run([*command, "check", "none.csv"], check=False, **options)
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr == "error: none.csv: No such file or directory\n"


def test_completion(run):
    found = run(env={"_GROUNDMETRIC_COMPLETE": "source_bash"}, prog_name="groundmetric")
    assert "_GROUNDMETRIC_COMPLETE" in found.stdout


@pytest.mark.parametrize(
    ("line", "heavy"),
    [
        (["--help"], HEAVY),
        (["--version"], HEAVY),
        (["check", "line.npy"], ("groundmetric.experiments", "matplotlib")),
    ],
)
@pytest.mark.usefixtures("folder")
def test_only_what_a_command_needs_is_imported(line, heavy):
    code = (
        "import sys, groundmetric.cli as cli\n"
        f"sys.argv[1:] = {line!r}\n"
        "try:\n    cli.main()\n"
        f"finally:\n    print(*({set(heavy)!r} & sys.modules.keys()), file=sys.stderr)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert found.stdout
    assert found.stderr.split() == []


def test_version(run):
    assert run("--version").stdout.startswith("groundmetric ")


def test_without_typer(monkeypatch, capsys):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert capsys.readouterr().err == (
        "error: the command needs typer and rich and pyarrow: "
        "pip install 'groundmetric[cli]'\n"
    )


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("error", [ZeroDivisionError, RecursionError, RuntimeError])
def test_an_unexpected_error_is_not_hidden(error, run, monkeypatch):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("groundmetric.cli._fit.read_labeled", fail)
    with pytest.raises(error):
        run("fit", "data.csv")


@pytest.mark.usefixtures("folder")
def test_interrupt(run, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("groundmetric.cli._fit.read_labeled", stop)
    found = run("fit", "data.csv")
    assert found.exit_code == 130
    assert "Traceback" not in found.stderr


@pytest.mark.parametrize("command", ["predict", "evaluate", "report"])
def test_models_of_another_kind_are_named(folder, command):
    EMDKernel(distance=1 - np.eye(3)).fit(X).save(folder / "kernel.npz")
    line = [command, "data.csv", "--model", "kernel.npz"]
    code, out, error = finished(FRESH, *line)
    assert (code, out) == (2, "")
    assert error == (
        "error: kernel.npz is a model of EMDKernel; one of a learner of a metric, such "
        "as GroundMetricLearning, or of EMDClassifier is needed.\n"
    )
