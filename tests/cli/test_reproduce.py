"""The paper's experiments on the command line, made small."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize(("variables", "there"), [([], True), (["SVM="], False)])
def test_make_reproduce_trains_svms_unless_told_not_to(variables, there):
    line = ["make", "--dry-run", "reproduce", *variables]
    found = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "groundmetric reproduce" in found.stdout
    assert ("--svm" in found.stdout) is there
