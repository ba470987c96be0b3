"""Print the oldest versions that pyproject.toml allows, one requirement a line.

``make test-oldest`` installs these: what building the package needs, what it depends
on, and what the extra ``dev`` adds. ``name>=1.2,<2`` becomes ``name==1.2``; pinned
versions and names without a version stay as they are.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tomllib

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
REQUIREMENT = re.compile(r"([\w.-]+)(?:\[([\w,-]+)\])?(.*)")


def expanded(requirements: list[str], project: dict[str, Any]) -> Iterator[str]:
    """Replace the project's own extras by what they consist of."""
    for requirement in requirements:
        name, extras, _ = REQUIREMENT.fullmatch(requirement).groups()
        if name != project["name"]:
            yield requirement
            continue
        for extra in extras.split(","):
            yield from expanded(project["optional-dependencies"][extra], project)


def oldest(requirements: Iterator[str]) -> dict[str, str]:
    """Map each name to its oldest version, or to nothing; the first mention counts."""
    found: dict[str, str] = {}
    for requirement in requirements:
        name, _, versions = REQUIREMENT.fullmatch(requirement).groups()
        floors = [v[2:] for v in versions.split(",") if v.startswith((">=", "=="))]
        if floors or not versions:
            found.setdefault(name, f"=={floors[0]}" if floors else "")
    return found


def read(extras: list[str]) -> dict[str, str]:
    """Oldest versions for building the package and for using it with its extras."""
    pyproject = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))
    project = pyproject["project"]
    named = [
        *pyproject["build-system"]["requires"],  # before the group, which pins nanobind
        *pyproject["dependency-groups"]["build"],
        *project["dependencies"],
        *(f"{project['name']}[{extra}]" for extra in extras),
    ]
    return oldest(expanded(named, project))


if __name__ == "__main__":
    for name, version in read(sys.argv[1:] or ["dev"]).items():
        print(f"{name}{version}")
