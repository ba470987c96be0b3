"""Tables in narrow terminals, and options as they are typed."""

import pytest

from groundmetric.cli._console import print_table
from groundmetric.cli._options import as_option


@pytest.mark.parametrize("width", ["20", "40", "80"])
def test_a_narrow_terminal_hides_nothing(width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", width)
    cells = ["learned metric", "12.5 %", "10.0 % to 15.0 %"]
    print_table(["Distance", "errors of neighbors", "95 % interval"], [cells])
    lines = capsys.readouterr().out.splitlines()
    (row,) = (line for line in lines if "learned" in line)
    assert all(cell in row for cell in cells)
    words = " ".join(lines).split()
    assert {"errors", "of", "neighbors", "interval"} <= set(words)


def test_options_are_spelled_as_typed():
    assert as_option("test-labels") == "--test-labels"
    assert as_option("label", "a b") == "--label 'a b'"
    assert as_option("ignore", ["id", "x y"]) == "--ignore id --ignore 'x y'"
    assert as_option("header", True) == "--header"
    assert as_option("header", False) == "--no-header"


@pytest.mark.parametrize("line", ["evaluate --folds 2", "predict", "distances"])
def test_a_model_with_names_gives_no_warning_of_names(line, model, run):
    command, *options = line.split()
    found = run(command, "data.csv", "--model", model, *options)
    assert found.exit_code == 0
    assert "feature names" not in found.stderr
