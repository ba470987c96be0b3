"""Which code results come from: the version of groundmetric, and the commit.

Rows carry both as one version, such as 0.1.0+1a2b3c4d, or 0.1.0+1a2b3c4d.changed if
files differed from the commit. Only a repository that has this folder and the package
next to each other is known to be what ran.
"""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import groundmetric

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["told", "version", "versions"]

ROOT = Path(__file__).parents[2]
CODE = ("src", "cpp", "reproduction")  # what results depend on
DIGITS = 8


@cache
def version() -> str:
    """Return the version of groundmetric with its commit, if that is known.

    Examples
    --------
    >>> import groundmetric
    >>> from paper.origin import version
    >>> version().startswith(groundmetric.__version__)
    True
    """
    release = groundmetric.__version__
    if not Path(groundmetric.__file__).is_relative_to(ROOT / "src"):
        return release
    commit = _git("rev-parse", f"--short={DIGITS}", "HEAD")
    if commit is None:
        return release
    changed = ".changed" if _git("status", "--porcelain", "--", *CODE) else ""
    return f"{release}+{commit}{changed}"


def versions(results: pd.DataFrame) -> dict[str, int]:
    """Count the rows of each version, the oldest first.

    Examples
    --------
    >>> import pandas as pd
    >>> from paper.origin import versions
    >>> versions(pd.DataFrame({"version": ["0.2.0+ab", "0.1.0", "0.2.0+ab"]}))
    {'0.1.0': 1, '0.2.0+ab': 2}
    """
    counts = results["version"].value_counts().sort_index()
    return {str(name): int(count) for name, count in counts.items()}


def told(results: pd.DataFrame) -> str:
    """Say which version the rows are from, or that there are several.

    Examples
    --------
    >>> import pandas as pd
    >>> from paper.origin import told
    >>> told(pd.DataFrame({"version": ["0.2.0+ab", "0.1.0", "0.2.0+ab"]}))
    'Rows are from several versions: 0.1.0 (1), 0.2.0+ab (2).'
    """
    found = versions(results)
    if len(found) == 1:
        return f"All rows are from version {next(iter(found))}."
    each = ", ".join(f"{name} ({n_rows:,})" for name, n_rows in found.items())
    return f"Rows are from several versions: {each}."


def _git(*arguments: str) -> str | None:
    """Return what git says about this repository, or None if it cannot."""
    git = shutil.which("git")
    if git is None:
        return None
    command = [git, "-C", str(ROOT), *arguments]
    found = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - fixed words
    return found.stdout.strip() if found.returncode == 0 else None
