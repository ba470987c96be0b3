"""The example of a network whose last layer is an EMD learns."""

import importlib
from pathlib import Path

from layers import torch

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_it_learns(monkeypatch, capsys):
    torch()
    monkeypatch.syspath_prepend(str(EXAMPLES))
    example = importlib.import_module("layer")
    monkeypatch.setattr(example, "N_EPOCHS", 5)
    accuracy = example.main()
    assert accuracy > 0.85
    assert f"accuracy on 599 new digits: {accuracy:.1%}" in capsys.readouterr().out
