"""Run the tests in a checkout with the package that is installed elsewhere.

``python .ci/try_dist.py [FOLDER] [--full]``, in the environment of the package. The
quick tests need pytest, hypothesis, clarabel, pandas, POT and tqdm, all tests the extra
``dev``.
"""

import subprocess
import sys
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
line = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen]
done = subprocess.run(line, cwd=root, check=False)  # noqa: S603 - our own tests
sys.exit(done.returncode)
