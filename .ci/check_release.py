"""Reject a release whose files disagree: ``python .ci/check_release.py v1.2.3``.

The version stands in pyproject.toml; all other places repeat it.
"""

import re
import sys
from pathlib import Path

import tomllib

ROOT = Path(__file__).parents[1]


def text_of(name: str) -> str:
    """Read a file of the checkout."""
    return (ROOT / name).read_text(encoding="utf-8")


def version() -> str:
    """Read the version from where it is set."""
    found: str = tomllib.loads(text_of("pyproject.toml"))["project"]["version"]
    return found


def repeated() -> dict[str, str]:
    """Find the version wherever it is repeated."""
    patterns = {
        "CITATION.cff": r"^version: (\S+)$",
        "recipe/recipe.yaml": r'^  version: "(\S+)"$',
    }
    return {
        name: re.findall(pattern, text_of(name), re.MULTILINE)[0]
        for name, pattern in patterns.items()
    }


def problems(tag: str) -> list[str]:
    """List what is wrong with a release of this tag."""
    number = version()
    found = [
        f"{name} has version {other}, pyproject.toml {number}"
        for name, other in repeated().items()
        if other != number
    ]
    if tag != f"v{number}":
        found.append(f"the tag is {tag}, the version {number}")
    if f"\n## [{number}] - " not in text_of("CHANGELOG.md"):
        found.append(f"CHANGELOG.md has no section for {number}")
    if "Repository" not in tomllib.loads(text_of("pyproject.toml"))["project"].get(
        "urls", {}
    ):
        found.append("pyproject.toml names no Repository in [project.urls]")
    return found


if __name__ == "__main__":
    for problem in problems(sys.argv[1]):
        print(f"error: {problem}")
    sys.exit(bool(problems(sys.argv[1])))
