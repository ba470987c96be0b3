"""The example of a network whose last layer is an EMD learns."""

import importlib
from pathlib import Path

import pytest

from layers import torch

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture
def example(monkeypatch):
    """Import the example, and leave the threads of PyTorch as they are."""
    n_threads = torch().get_num_threads()
    monkeypatch.syspath_prepend(str(EXAMPLES))
    yield importlib.import_module("layer")
    torch().set_num_threads(n_threads)


def test_it_learns(example, monkeypatch, capsys):
    monkeypatch.setattr(example, "N_EPOCHS", 5)
    accuracy = example.main()
    assert accuracy > 0.85
    assert f"accuracy on 599 new digits: {accuracy:.1%}" in capsys.readouterr().out
