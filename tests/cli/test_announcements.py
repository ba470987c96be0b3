"""What takes minutes is announced at once, even where notes are held back."""

import warnings

import numpy as np
import pytest

from groundmetric import GroundMetricLearning, LongFitWarning


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", ["fit", "evaluate", "report"])
def test_a_large_table_is_announced_at_once(command, run):
    rng = np.random.default_rng(0)
    np.savez("large.npz", X=rng.random((1000, 100)), y=np.arange(1000) % 2)
    # Notes that are held back are not printed before an error.
    found = run(command, "large.npz", "--limit", "1")
    first, last = found.stderr.splitlines()
    assert first == (
        "read 1,000 histograms over 100 bins from large.npz; learning may take minutes"
    )
    assert last.startswith("error: ")


@pytest.mark.usefixtures("folder")
def test_a_long_fit_is_announced_before_it_starts(run, monkeypatch):
    def fit(*_):
        warnings.warn("This fit may take long.", LongFitWarning, stacklevel=1)
        raise ValueError("Stopped.")

    monkeypatch.setattr(GroundMetricLearning, "fit", fit)
    found = run("fit", "data.csv")
    assert found.stderr.splitlines() == [
        "labels: column 'kind', the only text column",
        "warning: This fit may take long.",
        "error: Stopped.",
    ]
