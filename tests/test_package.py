"""What ``import groundmetric`` gives."""

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import groundmetric as gm

DOCS = Path(__file__).parents[1] / "docs"
SUB_PACKAGES = [
    "baselines",
    "datasets",
    "distances",
    "experiments",
    "features",
    "plotting",
    "report",
]


def answer(code):
    """Run code in a fresh interpreter, and read the JSON that it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )
    return json.loads(done.stdout)


# Of each only the package itself is imported again, not what it imports.
ACCESS = f"""
import json, sys
found = {{}}
for name in {SUB_PACKAGES}:
    for module in [each for each in sys.modules if each.startswith("groundmetric")]:
        if not module.endswith("._core"):
            del sys.modules[module]
    import groundmetric as gm
    listed = name in dir(gm)
    module = getattr(gm, name)
    found[name] = [listed, module.__name__, len(module.__all__)]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def accessed():
    return answer(ACCESS)


@pytest.mark.parametrize("name", SUB_PACKAGES)
def test_sub_packages_need_no_import_of_their_own(name, accessed):
    listed, found, n_names = accessed[name]
    assert listed
    assert found == f"groundmetric.{name}"
    assert n_names > 0


def test_import_is_light():
    loaded = answer(
        "import json, sys, groundmetric; print(json.dumps(sorted(sys.modules)))"
    )
    heavy = {f"groundmetric.{name}" for name in SUB_PACKAGES} - {
        "groundmetric.distances"  # which the kernel needs
    }
    heavy |= {"matplotlib", "metric_learn", "PIL", "torch", "tqdm", "typer"}
    assert not heavy & set(loaded)


def test_names_that_are_none():
    with pytest.raises(AttributeError, match="'groundmetric' has no attribute 'rep'"):
        gm.rep  # noqa: B018 - it is the access that fails
    assert "write_report" in dir(gm.report)
    assert {"emd", *SUB_PACKAGES} <= set(dir(gm))


def test_documentation_shows_public_names_only():
    private = re.compile(r"groundmetric(?:\.\w+)*\._[a-z]\w*")
    texts = {str(page): page.read_text() for page in DOCS.rglob("*.md")}
    for name in gm.__all__:
        value = getattr(gm, name)
        texts[name] = inspect.getdoc(value)
        for method, member in inspect.getmembers(value):
            if not method.startswith("_"):
                texts[f"{name}.{method}"] = inspect.getdoc(member) or ""
    shown = {where: private.findall(text) for where, text in texts.items()}
    assert {where: names for where, names in shown.items() if names} == {}
