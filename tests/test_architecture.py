"""What may import what: rooms in layers, and imports run downwards only.

Each rule is one test, which names all files that break it.
"""

import ast
from importlib import import_module
from pathlib import Path

import groundmetric

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "groundmetric"
MODULES = sorted(PACKAGE.rglob("*.py"))
INIT = PACKAGE / "__init__.py"
REPRODUCTION = ROOT / "reproduction"
# What the paper's experiments may use besides public names.
INTERNAL = {
    *("_cluster", "_files", "_progress", "_words", "validation"),
    *("experiments.measured", "experiments.design", "plotting.axes"),
}

# From the top down. A room may import rooms below its line; not those beside it.
LAYERS = [
    {"__main__"},
    {"cli"},
    {"report"},
    {"experiments", "plotting"},
    {"datasets"},
    {"automatic", "torch"},
    {"neighbors"},
    {"barycenters"},
    {"smoothed"},
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
    "array_api_compat": {"base"},
    "cupy": {"base"},
    "dask": {"_cluster"},
    "distributed": {"_cluster"},
    "h5py": {"datasets"},
    "openpyxl": {"datasets"},
    "PIL": {"datasets"},
    "matplotlib": {"plotting"},
    "metric_learn": {"_metric_learn"},
    "pandas": {"experiments"},
    "pyarrow": {"datasets"},
    "rich": {"cli"},
    "sqlite3": set(),  # results are kept in reproduction
    "torch": {"base", "torch"},
    "tqdm": {"_progress"},
    "typer": {"cli"},
}


def name_of(path):
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


def room_of(module):
    return module.split(".")[0]


def foreign_of(path):
    """Top-level packages that a file imports by name anywhere."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add(node.module.split(".")[0])
    return found


def own_of(path):
    """Modules of the package that one of its files imports anywhere."""
    found = set()
    here = path.relative_to(PACKAGE).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level > 0:
            base = [*here[: len(here) + 1 - node.level]]
            if node.module:
                found.add(".".join([*base, node.module]))
            else:
                found |= {".".join([*base, alias.name]) for alias in node.names}
    return found


# Public names of the top level come from the rooms that define them.
HOMES = {
    name: room
    for room in LEVEL
    if (PACKAGE / room / "__init__.py").exists()
    for name in groundmetric.__all__
    if f'"{name}"' in (PACKAGE / room / "__init__.py").read_text()
}


def offenses(path):
    """List the imports of a file that break a rule."""
    own, foreign = own_of(path), foreign_of(path)
    room = room_of(name_of(path))
    others = {module: room_of(HOMES.get(module, module)) for module in own}
    upwards = [
        f"{module} is not below"
        for module, other in others.items()
        if other != room and LEVEL[room] >= LEVEL[other]
    ]
    strange = [
        f"{package} is not for {room}"
        for package, rooms in ONLY_IN.items()
        if package in foreign and room not in rooms
    ]
    # Relative imports, so that this test sees them.
    absolute = ["groundmetric is imported by name"] if "groundmetric" in foreign else []
    return upwards + strange + absolute


def test_imports_run_downwards():
    found = {name_of(path): offenses(path) for path in MODULES if path != INIT}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_offenses_are_found(tmp_path, monkeypatch):
    monkeypatch.setattr("test_architecture.PACKAGE", tmp_path)
    (tmp_path / "cone").mkdir()
    module = tmp_path / "cone" / "_triangle.py"
    module.write_text(
        "import pandas\nimport groundmetric\nfrom ..learning import raised\n"
        "from ..validation import as_square\n"
    )
    assert offenses(module) == [
        "learning is not below",
        "pandas is not for cone",
        "groundmetric is imported by name",
    ]


def test_dots_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr("test_architecture.PACKAGE", tmp_path)
    (tmp_path / "cone").mkdir()
    module = tmp_path / "cone" / "_triangle.py"
    module.write_text("from .transport import emd\nfrom ..transport import emd\n")
    assert own_of(module) == {"cone.transport", "transport"}


def test_every_room_has_a_layer_and_says_what_it_is():
    rooms = {room_of(name_of(path)) for path in MODULES} - {"__init__"}
    assert rooms == set(LEVEL) - {"_core", "__version__"}
    for path in PACKAGE.rglob("__init__.py"):
        assert ast.get_docstring(ast.parse(path.read_text()))


def private_names(path):
    """List what a file imports from the package that is not public."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.ImportFrom) or node.level:
            continue
        package, _, room = node.module.partition(".")
        if package == "groundmetric" and room not in INTERNAL:
            public = getattr(import_module(node.module), "__all__", ())
            names = [alias.name for alias in node.names]
            found += [x for x in names if x not in {*public, *INTERNAL, "__version__"}]
    return found


def test_reproduction_uses_public_names_but_for_a_few_modules():
    found = {str(path): private_names(path) for path in REPRODUCTION.rglob("*.py")}
    assert len(found) > 10
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_private_names_are_found(tmp_path):
    module = tmp_path / "strange.py"
    module.write_text(
        "from groundmetric import emd, validation\n"
        "from groundmetric.cli._data import limited\nfrom .emd import x\n"
    )
    assert private_names(module) == ["limited"]


def test_core_knows_nothing_of_python():
    sources = [*(ROOT / "cpp").rglob("*.h"), *(ROOT / "cpp").rglob("*.cpp")]
    assert len(sources) > 50
    for path in sources:
        if path.parent.name != "bindings":
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
