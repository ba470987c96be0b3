"""Run the tests in a checkout with the package that is installed elsewhere.

``python .ci/try_dist.py [FOLDER] [--full]``, in the environment of the package. The
quick tests need pytest, hypothesis, clarabel, pandas and POT, all tests the extra dev.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import groundmetric

QUICK = ["core", "transport", "cone", "projector", "tables", "model", "package"]

full = "--full" in sys.argv
folders = [Path(name).resolve() for name in sys.argv[1:] if name != "--full"]
root = folders[0] if folders else Path(__file__).parents[1]
installed = Path(groundmetric.__file__).parent
assert root / "src" not in installed.parents, "the checkout itself would be tested"
tests = root / "tests"
chosen = [tests] if full else [tests / f"test_{name}.py" for name in QUICK]
with tempfile.TemporaryDirectory() as folder:
    done = subprocess.run(  # noqa: S603 - our own tests
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *("--rootdir", root, "-c", root / "pyproject.toml", *chosen),
        ],
        cwd=folder,
        check=False,
    )
sys.exit(done.returncode)
