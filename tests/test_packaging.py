"""What pyproject.toml declares is what the package imports, and what is tested."""

import re
import runpy
import sys
from itertools import chain
from pathlib import Path

import pytest

from groundmetric.cli._info import PARTS
from test_architecture import MODULES, REPRODUCTION, foreign_of, name_of

tomllib = pytest.importorskip("tomllib")  # Python 3.11

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
EXTRAS = PROJECT["optional-dependencies"]
OLDEST = runpy.run_path(str(ROOT / ".ci" / "oldest.py"))
# Packages whose modules have another name.
MODULE = {
    "array-api-compat": "array_api_compat",
    "metric-learn": "metric_learn",
    "pillow": "PIL",
    "scikit-learn": "sklearn",
}
# Modules that only work with an extra; all others need nothing but the dependencies.
NEEDS = {
    "_cluster": "distributed",
    "_metric_learn": "baselines",
    "_progress": "progress",
    "cli": "cli",
    "datasets._annotated": "h5ad",
    "datasets._parquet": "parquet",
    "datasets._pixels": "images",
    "datasets._sheet": "excel",
    "experiments": "experiments",
    "plotting": "plot",
    "base._arrays": "gpu",
    "torch": "gpu",
}


def third_parties(path):
    """Top-level modules that a file imports anywhere, but Python's own and ours."""
    return foreign_of(path) - sys.stdlib_module_names


def declared(extras):
    """Modules that the package's dependencies and these extras provide."""
    own = [f"{PROJECT['name']}[{extra}]" for extra in extras]
    requirements = OLDEST["expanded"]([*PROJECT["dependencies"], *own], PROJECT)
    names = [re.match(r"[\w.-]+", requirement).group() for requirement in requirements]
    return {MODULE.get(name, name) for name in names}


def extras_of(module):
    """Extras that callers of this module have installed."""
    parts = [part for part in NEEDS if f"{module}.".startswith(f"{part}.")]
    return {NEEDS[part] for part in parts}


def test_imports_are_declared():
    undeclared = {
        name_of(path): third_parties(path) - declared(extras_of(name_of(path)))
        for path in MODULES
    }
    assert {name: found for name, found in undeclared.items() if found} == {}


def test_imports_of_the_reproduction_are_declared():
    scripts = {"groundmetric", "learning", "paper"}  # which it consists of
    used = set().union(*map(third_parties, REPRODUCTION.rglob("*.py")))
    assert "pandas" in used
    assert used - scripts <= declared({"reproduction"})


def test_every_dependency_is_imported():
    """Nothing is installed that no module uses."""
    used = set().union(*map(third_parties, MODULES))
    # For benchmarks, tests, pages, and experiments.
    tools = {"bench", "dev", "docs", "reproduction", "where"}
    assert declared(set(EXTRAS) - tools) == used


def all_requirements():
    """Every requirement, wherever it stands, but for our own extras."""
    requirements = [
        *PYPROJECT["build-system"]["requires"],
        *PROJECT["dependencies"],
        *chain.from_iterable(EXTRAS.values()),
        *PYPROJECT["dependency-groups"]["build"],
    ]
    return [r for r in requirements if not r.startswith(PROJECT["name"])]


def test_every_requirement_has_one_floor():
    floors = {}
    for requirement in all_requirements():
        name, limit = re.fullmatch(r"([\w.-]+)(.*)", requirement).groups()
        if limit.startswith((">=", "==")):
            floors.setdefault(name, set()).add(limit.split(",")[0])
    several = {name for name, limits in floors.items() if len(limits) > 1}
    # The stub is that of one version of nanobind, and tests run with one of PyTorch.
    assert several == {"nanobind", "torch"}
    named = {re.match(r"[\w.-]+", r).group() for r in all_requirements()}
    assert named - set(floors) == {"ninja"}


def test_oldest_versions_are_the_floors():
    oldest = OLDEST["read"](["dev"])
    for requirement in [
        *PYPROJECT["build-system"]["requires"],
        *PROJECT["dependencies"],
        *(r for extra in ("cli", "reproduction", "dev") for r in EXTRAS[extra]),
    ]:
        name, limit = re.fullmatch(r"([\w.-]+)(.*)", requirement).groups()
        if name != PROJECT["name"]:
            assert oldest[name] == limit.split(",")[0].replace(">=", "==")
    # Through the extras that cli and reproduction consist of.
    floors = {"matplotlib", "metric-learn", "pillow", "pyarrow", "tqdm"}
    assert floors <= set(oldest)
    assert PROJECT["name"] not in oldest


def test_oldest_reads_limits_pins_and_bare_names():
    limits = ["a>=1.2,<2", "b-c==3", "d", "e<4", "e>=3.1", "a>=5", "f<6,>=5"]
    assert OLDEST["oldest"](limits) == {
        "a": "==1.2",
        "b-c": "==3",
        "d": "",
        "e": "==3.1",
        "f": "==5",
    }


def test_make_installs_the_oldest_versions():
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").split("\ntest-oldest:")[1]
    recipe = recipe.split("\n\n")[0]
    assert ".ci/oldest.py > $(OLDEST)/requirements.txt" in recipe
    assert "-r $(OLDEST)/requirements.txt" in recipe


def test_scikit_learn_has_validate_data():
    """It came with 1.6; so did ``ensure_all_finite``."""
    floor = OLDEST["read"](["dev"])["scikit-learn"].removeprefix("==")
    assert tuple(map(int, floor.split("."))) >= (1, 6)


def test_info_tells_of_extras_that_exist():
    for extra, name in PARTS.items():
        floors = OLDEST["expanded"]([f"{PROJECT['name']}[{extra}]"], PROJECT)
        assert any(floor.startswith(f"{name}>=") for floor in floors)


@pytest.mark.parametrize("folder", ["src", "docs", ".ci", "reproduction"])
def test_advice_names_extras_that_exist(folder):
    texts = [
        path.read_text(encoding="utf-8")
        for pattern in ("*.py", "*.md")
        for path in (ROOT / folder).rglob(pattern)
    ]
    advised = re.findall(r"pip install 'groundmetric\[([a-z,]+)\]'", "".join(texts))
    assert advised
    assert {extra for extras in advised for extra in extras.split(",")} <= set(EXTRAS)


RELEASE = runpy.run_path(str(ROOT / ".ci" / "check_release.py"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_the_version_is_the_same_everywhere():
    assert set(RELEASE["repeated"]().values()) == {PROJECT["version"]}
    assert "CITATION.cff" in RELEASE["repeated"]()


def test_a_release_needs_its_tag_and_a_section_of_the_changelog():
    (tag,) = [p for p in RELEASE["problems"]("v99") if "tag" in p]
    assert tag == f"the tag is v99, the version {PROJECT['version']}"
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    has_section = f"\n## [{PROJECT['version']}] - " in text
    found = RELEASE["problems"](f"v{PROJECT['version']}")
    assert any("CHANGELOG" in problem for problem in found) != has_section
    assert not any("tag" in problem for problem in found)


def test_actions_are_pinned_by_commit():
    pinned = re.compile(r"uses: [\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
    for path in WORKFLOWS:
        uses = re.findall(r"uses: .*", path.read_text(encoding="utf-8"))
        assert uses, path.name
        assert [line for line in uses if not pinned.fullmatch(line)] == []


def test_the_recipe_needs_what_the_package_needs():
    recipe = (ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8")
    run = recipe.split("\n  run:\n")[1].split("\n\n")[0]
    needed = {line.strip(" -").replace(" ", "") for line in run.splitlines()}
    assert needed == {"python", *PROJECT["dependencies"]}
