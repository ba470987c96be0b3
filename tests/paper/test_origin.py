"""Rows say which version and commit they are from."""

import shutil
import subprocess

import pandas as pd
import pytest
from made_up import plausible

import groundmetric
from paper import FIGURE_2, origin
from paper.command import main

RELEASE = groundmetric.__version__


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """Pretend that the package is in another repository, with one commit."""
    if shutil.which("git") is None:
        pytest.skip("needs git")
    code = tmp_path / "src" / "groundmetric" / "__init__.py"
    code.parent.mkdir(parents=True)
    code.write_text("one")
    (tmp_path / "notes.md").write_text("one")
    for words in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "one"],
    ):
        subprocess.run(["git", "-C", tmp_path, *words], check=True)  # noqa: S607
    monkeypatch.setattr(origin, "ROOT", tmp_path)
    monkeypatch.setattr(groundmetric, "__file__", str(code))
    return tmp_path


def test_versions_have_the_commit(repository):
    found = origin.version.__wrapped__
    head = subprocess.run(
        ["git", "-C", repository, "rev-parse", "HEAD"],  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    release, _, commit = found().partition("+")
    assert (release, len(commit)) == (RELEASE, origin.DIGITS)
    assert head.startswith(commit)
    # Only code counts as changed.
    (repository / "notes.md").write_text("two")
    assert found() == f"{RELEASE}+{commit}"
    (repository / "src" / "groundmetric" / "__init__.py").write_text("two")
    assert found() == f"{RELEASE}+{commit}.changed"


def test_no_commit_is_known_elsewhere(repository, monkeypatch, tmp_path):
    found = origin.version.__wrapped__
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(groundmetric, "__file__", "/site-packages/groundmetric.py")
        assert found() == RELEASE
    with monkeypatch.context() as without:
        without.setattr(shutil, "which", lambda _: None)
        assert found() == RELEASE
    shutil.rmtree(repository / ".git")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert found() == RELEASE


def test_figures_warn_of_several_versions(tmp_path, capsys):
    results = plausible(FIGURE_2, n_classes=2)
    for versions, warned in ((["0.1.0"], False), (["0.1.0", "0.1.0+ab"], True)):
        n_each = len(results) // len(versions)
        results["version"] = sorted(versions * n_each)
        file = tmp_path / "results.parquet"
        results.to_parquet(file)
        options = ["--figure", "2", "--out", str(tmp_path)]
        assert main(["figures", str(file), *options]) == 0
        text = (tmp_path / "made-up-figure2.md").read_text()
        told = origin.told(pd.read_parquet(file))
        assert told in text
        assert (f"warning: {told}" in capsys.readouterr().err) is warned
        assert told.startswith("Rows are from several") is warned
