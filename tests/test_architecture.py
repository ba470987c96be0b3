"""What may import what: rooms in layers, and imports run downwards only."""

import ast
from pathlib import Path

import pytest

import groundmetric

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "groundmetric"
MODULES = sorted(PACKAGE.rglob("*.py"))

# From the top down. A room may import rooms below its line; not those beside it.
LAYERS = [
    {"__main__"},
    {"cli"},
    {"report"},
    {"plotting"},
    {"experiments"},
    {"datasets"},
    {"neighbors", "smoothed"},
    {"learning"},
    {"tables"},
    {"baselines", "cone", "distances", "features", "similarity", "transport"},
    {"_metric_learn", "base"},
    {"validation"},
    {"_cluster", "_core", "_files", "_progress", "_warnings", "_words", "__version__"},
]
LEVEL = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}
# Third parties that only some rooms may know.
ONLY_IN = {
    "array_api_compat": {"smoothed"},
    "cupy": {"smoothed"},
    "dask": {"_cluster"},
    "distributed": {"_cluster"},
    "PIL": {"datasets"},
    "matplotlib": {"plotting"},
    "metric_learn": {"_metric_learn"},
    "pandas": {"experiments", "plotting"},
    "pyarrow": {"datasets", "experiments"},
    "rich": {"cli"},
    "sqlite3": {"experiments"},
    "torch": {"smoothed"},
    "tqdm": {"_progress"},
    "typer": {"cli"},
}


def name_of(path):
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


def room_of(module):
    return module.split(".")[0]


def imports_of(path):
    """(own modules, foreign top-level packages) that a file imports anywhere."""
    own, foreign = set(), set()
    here = path.relative_to(PACKAGE).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            foreign |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            foreign.add(node.module.split(".")[0])
        elif isinstance(node, ast.ImportFrom):
            base = [*here[: len(here) + 1 - node.level]]
            if node.module:
                own.add(".".join([*base, node.module]))
            else:
                own |= {".".join([*base, alias.name]) for alias in node.names}
    return own, foreign


# Public names of the top level come from the rooms that define them.
HOMES = {
    name: room
    for room in LEVEL
    if (PACKAGE / room / "__init__.py").exists()
    for name in groundmetric.__all__
    if f'"{name}"' in (PACKAGE / room / "__init__.py").read_text()
}


@pytest.mark.parametrize(
    "path", [path for path in MODULES if name_of(path) != "__init__"], ids=name_of
)
def test_imports_run_downwards(path):
    own, foreign = imports_of(path)
    room = room_of(name_of(path))
    for module in own:
        other = room_of(HOMES.get(module, module))
        assert other == room or LEVEL[room] < LEVEL[other], f"{module} is not below"
    assert "groundmetric" not in foreign  # relative imports, so that this test sees
    for package, rooms in ONLY_IN.items():
        assert package not in foreign or room in rooms


def test_dots_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr("test_architecture.PACKAGE", tmp_path)
    (tmp_path / "cone").mkdir()
    module = tmp_path / "cone" / "_triangle.py"
    module.write_text("from .transport import emd\nfrom ..transport import emd\n")
    assert imports_of(module)[0] == {"cone.transport", "transport"}


def test_every_room_has_a_layer_and_says_what_it_is():
    rooms = {room_of(name_of(path)) for path in MODULES} - {"__init__"}
    assert rooms == set(LEVEL) - {"_core", "__version__"}
    for path in PACKAGE.rglob("__init__.py"):
        assert ast.get_docstring(ast.parse(path.read_text()))


def test_core_knows_nothing_of_python():
    for path in (ROOT / "cpp").iterdir():
        if not path.name.startswith(("bindings", "README")):
            text = path.read_text()
            assert "Python.h" not in text
            assert "nanobind" not in text


def test_public_names_are_sorted_and_documented():
    # Constants come first.
    assert groundmetric.__all__ == sorted(
        groundmetric.__all__, key=lambda name: (not name.isupper(), name)
    )
    for name in groundmetric.__all__:
        assert getattr(groundmetric, name).__doc__


def test_no_module_is_called_utils():
    assert not [path for path in MODULES if "util" in path.name]
