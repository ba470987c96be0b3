"""What may import what, and how long a file may be."""

import ast
from pathlib import Path

import pytest

import groundmetric

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "groundmetric"
MODULES = sorted(PACKAGE.rglob("*.py"))

PUBLIC = set(groundmetric.__all__)
ON_DEMAND = {"baselines", "datasets", "distances", "experiments", "features"} | {
    "plotting",
    "report",
}
CENTERS = {"_similarity", "_tables"}
SPEAKS = {"_console"}
COMMAND = PUBLIC | SPEAKS | {"_options", "_output", "_words"}
# Imports run one way. A module may import those named here, and nothing else of ours.
ALLOWED = {
    "__init__": CENTERS
    | {"_batch", "_classifier", "_cone", "_effort", "_initial", "_kernel", "_learning"}
    | {"_neighbors", "_path", "_transport", "_triangle", "_unnormalized"}
    | ON_DEMAND,
    "_arrangement": set(),
    "_batch": {"_core", "_transport", "_validation"},
    "_cone": {"_core", "_progress", "_triangle", "_validation", "_warnings"},
    "_checkpoint": {"_files"},
    "_classifier": {"_learning", "_model", "_neighbors", "_rows", "_validation"},
    "_criterion": {"_core", "_weights"},
    "_descent": {"_checkpoint", "_cone", "_criterion", "_files", "_path"}
    | {"_progress", "_triangle"}
    | {"_validation"},
    "_effort": {"_core", "_descent", "_weights"},
    "_files": set(),
    "_initial": CENTERS
    | {"_cone", "_nearest", "_transport", "_triangle", "_validation", "_weights"},
    "_kernel": {"_rows", "_transport", "_validation", "distances"},
    "_learning": CENTERS
    | {"_checkpoint", "_criterion", "_descent", "_effort", "_files", "_initial"}
    | {"_path", "_progress", "_rows", "_transport", "_validation", "_warnings"}
    | {"_weights"},
    "_metric_learn": set(),
    "_model": {"_files", "_path"},
    "_nearest": set(),
    "_neighbors": {"_core", "_progress", "_rows", "_validation"},
    "_path": set(),
    "_progress": set(),
    "_rows": {"_model", "_validation"},
    "_similarity": {"_validation", "_weights"},
    "_tables": {"_core", "_validation", "_warnings"},
    "_transport": {"_core", "_progress", "_validation"},
    "_triangle": {"_core", "_validation"},
    "_unnormalized": {"_core", "_progress", "_validation"},
    "_validation.__init__": {"arrays", "features", "histograms", "images", "pairs"}
    | {"places", "threads"},
    "_validation.arrays": {"_core", "places"},
    "_validation.features": set(),
    "_validation.histograms": {"_core", "arrays", "places"},
    "_validation.images": {"arrays"},
    "_validation.pairs": {"arrays"},
    "_validation.places": set(),
    "_validation.threads": set(),
    "__main__": {"cli"},
    "_warnings": set(),
    "_weights": set(),
    "_words": set(),
    "baselines": {"_metric_learn", "_rows", "_validation", "_warnings"},
    "cli.__init__": {"_app"},
    "cli._app": SPEAKS | {"__version__"},  # and the commands, when they are called
    "cli._arrays": {"_cells", "_files", "_text"},
    "cli._cells": SPEAKS | {"_text"},
    "cli._columns": SPEAKS | {"_cells", "_text"},
    "cli._cone": SPEAKS | PUBLIC | {"_arrays", "_options", "_output", "_validation"},
    "cli._console": set(),
    "cli._data": SPEAKS
    | {"_arrays", "_cells", "_columns", "_text", "_validation", "datasets"},
    "cli._demo": COMMAND
    | {"_progress", "datasets", "experiments", "report._evaluation"}
    | {"report._measures", "report._repeated", "report._verdict", "report._write"},
    "cli._distances": COMMAND
    | {"_arrays", "_columns", "_data", "_files", "_models", "_validation"},
    "cli._evaluate": COMMAND | {"_data", "_models", "experiments", "report._verdict"},
    "cli._figures": COMMAND
    | {"_files", "_installed", "experiments", "plotting", "plotting.figures"},
    "cli._fit": COMMAND | {"_arrays", "_data", "_models", "_validation"},
    "cli._info": COMMAND | {"__version__", "_core"},
    "cli._installed": set(),
    "cli._models": SPEAKS | PUBLIC | {"_columns", "_data"},
    "cli._options": set(),
    "cli._output": SPEAKS | {"_files", "_options"},
    "cli._plan": {"experiments"},
    "cli._text": set(),
    "cli._report": COMMAND
    | {"_data", "_models", "report._evaluation", "report._write"},
    "cli._reproduce": COMMAND
    | {"_data", "_figures", "_installed", "_plan", "datasets", "experiments"},
    "datasets.__init__": {"_folder", "_labeled", "_reader", "_synthetic"},
    "datasets._cache": set(),
    "datasets._feature": {"features", "features.color"},
    "datasets._folder": {"_cache", "_feature", "_labeled", "_pixels", "_progress"}
    | {"_reader", "_validation", "_words"},
    "datasets._labeled": set(),
    "datasets._pixels": set(),
    "datasets._reader": {"_cache", "_feature", "_pixels", "_progress", "_validation"},
    "datasets._synthetic": {"_labeled", "_validation"},
    "features.__init__": {"color", "gist", "text"},
    "features._resize": set(),
    "features.color": {"_validation"},
    "features.gist": {"_resize", "_validation"},
    "features.text": {"_validation"},
    "distances": {"_validation"},
    "experiments.__init__": {"comparison", "cross_validation", "frames", "measures"}
    | {"methods", "protocol", "results", "runner", "summary", "tables"},
    "experiments.aligned": set(),
    "experiments.comparison": {"_validation", "measures", "methods"},
    "experiments.cross_validation": {"_progress", "_validation", "comparison"}
    | {"inference", "methods"},
    "experiments.frames": {"_files", "results"},
    "experiments.inference": set(),
    "experiments.measures": PUBLIC | {"_validation"},
    "experiments.methods": PUBLIC
    | {"_initial", "_similarity", "baselines", "distances"},
    "experiments.protocol": {"_validation"},
    "experiments.results": set(),
    "experiments.runner": {"__version__", "_progress", "_validation", "comparison"}
    | {"methods", "protocol", "results", "work"},
    "experiments.summary": {"aligned", "inference"},
    "experiments.tables": {"aligned", "inference", "summary"},
    "experiments.work": {"comparison", "methods", "protocol"},
    "plotting.__init__": {"curves", "differences", "feature_map", "figures", "grid"}
    | {"metric", "path"},
    "plotting.axes": {"_validation", "canvas"},
    "plotting.canvas": {"_files"},
    "plotting.curves": {"canvas", "experiments.summary", "panel", "style"},
    "plotting.differences": {"canvas", "experiments.summary", "panel", "style"},
    "plotting.feature_map": {"_arrangement", "_validation", "axes"},
    "plotting.figures": {"experiments", "layout"},
    "plotting.grid": {"_arrangement", "_validation", "axes"},
    "plotting.layout": {"canvas", "curves", "differences", "experiments.inference"}
    | {"experiments.summary"},
    "plotting.metric": {"_arrangement", "_validation", "axes"},
    "plotting.panel": {"style"},
    "plotting.path": {"axes"},
    "plotting.style": {"experiments"},
    "report.__init__": {"_write"},
    "report._contents": {"_arrangement", "_evaluation", "_path", "_verdict"},
    "report._evaluation": {"_learning", "_measures", "_neighbors", "_validation"}
    | {"_verdict", "distances"},
    "report._measures": set(),
    "report._page": {"_contents", "_evaluation", "_section", "_verdict"},
    "report._repeated": {"_section", "_verdict", "_words"},
    "report._section": {"_evaluation", "_verdict", "_words"},
    "report._verdict": {"_words"},
    "report._write": {"_contents", "_evaluation", "_files", "_learning", "_page"}
    | {"_section", "_validation"},
}
# These name types of matplotlib and pandas; only plotting.canvas and
# plotting.axes import matplotlib.
DRAWING = {"plotting.curves", "plotting.differences", "plotting.figures"} | {
    "plotting.layout",
    "plotting.panel",
}
PICTURES = {"plotting.axes", "plotting.feature_map", "plotting.grid"} | {
    "plotting.metric",
    "plotting.path",
}
# Third parties that only some modules may know.
ONLY_IN = {
    "PIL": {"datasets._pixels"},
    "matplotlib": {"plotting.canvas", *DRAWING, *PICTURES},
    "metric_learn": {"_metric_learn"},
    "pandas": {"experiments.aligned", "experiments.frames", "experiments.summary"}
    | {"experiments.tables", *DRAWING},
    "sklearn": {"_classifier", "_kernel", "_learning", "_neighbors", "_rows"}
    | {"_model", "_warnings", "baselines", "datasets._labeled", "datasets._synthetic"}
    | {"cli._demo"}
    | {"distances", "experiments.cross_validation", "experiments.measures"}
    | {"features.text", "report._evaluation"},
    "pyarrow": {"cli._cells", "cli._data", "experiments.frames"},
    "rich": {"cli._console"},
    "sqlite3": {"experiments.frames", "experiments.results"},
    "tqdm": {"_progress"},
    "typer": {"cli._app", "cli._cone", "cli._demo", "cli._distances", "cli._evaluate"}
    | {"cli._figures", "cli._fit", "cli._info", "cli._options", "cli._output"}
    | {"cli._report", "cli._reproduce"},
}
LONGEST = 300
WEB = {".css", ".html", ".js"}


def name_of(path):
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


def imports_of(path):
    """(own modules, foreign top-level packages) that a file imports anywhere."""
    own, foreign = set(), set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            foreign |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            foreign.add(node.module.split(".")[0])
        elif isinstance(node, ast.ImportFrom) and node.module:
            own.add(node.module)
        elif isinstance(node, ast.ImportFrom):
            own |= {alias.name for alias in node.names}
    return own, foreign


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_run_one_way(path):
    own, foreign = imports_of(path)
    assert own <= ALLOWED[name_of(path)]
    assert "groundmetric" not in foreign  # relative imports, so that this test sees
    for package, modules in ONLY_IN.items():
        assert package not in foreign or name_of(path) in modules


def test_every_rule_is_about_a_module_that_exists():
    assert set(ALLOWED) == {name_of(path) for path in MODULES}


@pytest.mark.parametrize(
    "path",
    [
        *MODULES,
        *sorted(p for p in PACKAGE.rglob("*") if p.suffix in WEB),
        *sorted((ROOT / "cpp").glob("*.cpp")),
        *sorted((ROOT / "cpp").glob("*.h")),
    ],
    ids=lambda path: path.name,
)
def test_files_are_short(path):
    assert len(path.read_text().splitlines()) <= LONGEST


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
