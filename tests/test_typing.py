"""The types that the package ships, as a program outside sees them."""

import subprocess
import sys
from pathlib import Path

import pytest

import groundmetric

CONSUMER = Path(__file__).parent / "typed" / "consumer.py"
CACHE = Path(__file__).parents[1] / "build" / "typing"
WRONG = """
import groundmetric as gm
gm.emd_hat([1.0], [1.0], [[0.0]]).plan
gm.project_metric([[0.0]], tolerance=1e-3)
"""


def mypy(path, folder):
    """Check one file strictly, without the project's own settings.

    What mypy found out about NumPy and others is kept for the next run.
    """
    pytest.importorskip("mypy")
    return subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--config-file="),
            *("--cache-dir", CACHE, "--follow-imports=silent", path),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("typing")


def test_the_package_is_typed():
    assert Path(groundmetric.__file__).with_name("py.typed").exists()


def test_a_correct_program_has_no_errors(folder):
    done = mypy(CONSUMER, folder)
    assert (done.stdout, done.returncode) == (
        "Success: no issues found in 1 source file\n",
        0,
    )


def test_mistakes_are_found(folder):
    (folder / "wrong.py").write_text(WRONG)
    found = mypy(folder / "wrong.py", folder).stdout
    assert '"float" has no attribute "plan"' in found
    assert 'Unexpected keyword argument "tolerance"' in found
    assert "Found 2 errors in 1 file" in found
