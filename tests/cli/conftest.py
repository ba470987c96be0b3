"""A command line to try, and a folder of small files."""

import numpy as np
import pytest
from PIL import Image
from samples import LINE, X, Y, csv_of
from typer.testing import CliRunner

from groundmetric.cli import _console, _evaluate
from groundmetric.cli._app import app
from groundmetric.report import _lesson


@pytest.fixture(autouse=True)
def silence():
    """Drop notes that a test left unprinted, so that the next test starts without."""
    yield
    _console._held.clear()


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    """Learn on few draws in each report; test_report.py has as many as users."""
    monkeypatch.setattr(_lesson, "N_DRAWS", 6)


@pytest.fixture
def measured_once(monkeypatch):
    """Let evaluate measure each choice of learners once, however it prints them."""
    measure_beside, found = _evaluate.measure_beside, {}

    def measure(*args, learners, **options):
        if learners not in found:
            found[learners] = measure_beside(*args, learners=learners, **options)
        return found[learners]

    monkeypatch.setattr(_evaluate, "measure_beside", measure)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in a folder with good data in several formats."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(csv_of(X, Y))
    np.save("X.npy", X)
    np.savez("data.npz", X=X, y=(Y == "right").astype(int), class_names=["l", "r"])
    np.save("line.npy", LINE)
    return tmp_path


@pytest.fixture
def images(folder):
    """Make a folder of four images in each of two classes, and a broken one."""
    rng = np.random.default_rng(0)
    for name, pattern in (("bars", np.tri(9)), ("steps", np.eye(9))):
        (folder / "images" / name).mkdir(parents=True)
        for i in range(4):
            pixels = (200 * pattern + rng.integers(0, 50, (9, 9))).astype(np.uint8)
            Image.fromarray(pixels).save(folder / "images" / name / f"{i}.png")
    (folder / "images" / "bars" / "torn.png").write_bytes(b"no image")
    return folder / "images"


@pytest.fixture
def run():
    """Call the command; fail on exceptions other than its exit."""

    def call(*arguments, **options):
        found = CliRunner().invoke(app, [str(word) for word in arguments], **options)
        if found.exception is not None and not isinstance(found.exception, SystemExit):
            raise found.exception
        return found

    return call


@pytest.fixture
def model(folder, run):
    """Make a model of the data."""
    assert run("fit", "data.csv", "--out", "model.npz").exit_code == 0
    return folder / "model.npz"
