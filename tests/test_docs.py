"""The documentation has every public name and page, and its code runs."""

import contextlib
import functools
import importlib
import inspect
import io
import re
import runpy
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from sklearn import model_selection
from typer.testing import CliRunner

import groundmetric as gm
from groundmetric import experiments
from groundmetric.cli._app import app
from groundmetric.report import _lesson
from layers import torch

mpl.use("Agg")

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
# Those that are made when the documentation is built have no place here.
MADE = {"_build", "_extra", "gallery", "generated", "tutorials"}
# The layer for PyTorch, which not every Python has here.
LEFT_OUT = set() if find_spec("torch") else {"groundmetric.torch"}
PAGES = sorted(
    page for page in DOCS.rglob("*.md") if not MADE & set(page.relative_to(DOCS).parts)
)
GALLERY = sorted(
    path
    for folder in ("gallery", "tutorials")
    for path in (ROOT / "examples" / folder).glob("*.py")
)
SCRIPTS = [*GALLERY, *sorted((DOCS / "figures").glob("*.py"))]
PACKAGE = ROOT / "src" / "groundmetric"
# Names of these are exported at the top level, and described there.
ROOMS = {
    "automatic",
    "barycenters",
    "base",
    "cone",
    "learning",
    "neighbors",
    "similarity",
    "smoothed",
    "tables",
    "transport",
} | {"validation"}
MODULES = [
    ".".join(
        ("groundmetric", *path.relative_to(PACKAGE).with_suffix("").parts)
    ).removesuffix(".__init__")
    for path in sorted([*PACKAGE.glob("*.py"), *PACKAGE.glob("*/__init__.py")])
    if "\n__all__ = [" in path.read_text()
    and not re.match(r"_[a-z]", path.relative_to(PACKAGE).parts[0])
    and path.relative_to(PACKAGE).parts[0] not in ROOMS
]
BLOCK = re.compile(r"^```(?:python|\{run\})\n(.*?)^```", re.DOTALL | re.MULTILINE)
ENTRY = re.compile(r"   (\w+)$")  # of a table
CONSTANT = re.compile(r"(?:\.\. data::|         ) ([A-Z_0-9]+)$")
LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)(?:#[^)]*)?\)")  # to a file here
TREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.DOTALL | re.MULTILINE)


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def described():
    """Names in the tables of the reference, and constants described in place."""
    names = []
    for page in sorted((DOCS / "api").glob("*.md")):
        module, in_table = "", False
        for line in page.read_text().splitlines():
            if match := re.match(r"\.\. (?:current)?module:: (\S+)", line):
                module = match.group(1)
            elif match := (ENTRY if in_table else CONSTANT).match(line):
                names.append(f"{module}.{match.group(1)}")
            in_table = line == ".. autosummary::" or (in_table and line != "```")
    return [name for name in names if name.rpartition(".")[0] not in LEFT_OUT]


def test_every_public_name_is_in_the_reference_once():
    public = [
        f"{module}.{name}"
        for module in MODULES
        if module not in LEFT_OUT
        for name in importlib.import_module(module).__all__
    ]
    assert sorted(described()) == sorted(public)


@pytest.mark.parametrize(
    "learner",
    [
        gm.GroundMetricLearning(max_samples=7),
        gm.MappedMetricLearning(bin_weights="learn"),
        gm.CombinedMetricLearning(points=[[0.0], [1.0], [2.0]]),
        gm.SinkhornMetricLearning(),
        gm.SinkhornMetricLearning(bin_weights="learn"),
        gm.DiscriminantMetricLearning(max_samples=7),
        gm.MetricLearningCV(cv=2),
        gm.AutoMetric(cv=2),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_what_a_learner_learns_is_among_its_attributes(learner):
    X = [[4, 1, 1], [3, 2, 1], [0, 1, 4], [0, 2, 3]] * 2
    fitted = vars(learner.fit(X, [0, 0, 1, 1] * 2))
    names = {name for name in fitted if not name.startswith("_") and name[-1] == "_"}
    own = {name for name in learner._fitted if not name.startswith("_")}
    documented = type(learner).__doc__.partition("Attributes\n")[2]
    known = set(re.findall(r"\w+_\b", documented))
    assert names | own <= known


def test_reference_has_no_private_names(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])  # which it extends
    conf = runpy.run_path(str(DOCS / "conf.py"))
    raw, shown = [], []
    for name in described():
        module, _, attribute = name.rpartition(".")
        found = getattr(importlib.import_module(module), attribute)
        if inspect.isclass(found) and not issubclass(found, Exception):
            given = inspect.signature(found).parameters.values()
            plain = [each.replace(annotation=each.empty) for each in given]
            raw.append(str(inspect.Signature(plain)))  # as autodoc writes it
            event = (None, "class", name, found, None, raw[-1], None)
            shown.append(conf["hide_private"](*event)[0])
    private = re.compile(r"[(\s]_\w|<factory>")
    assert any(private.search(signature) for signature in raw)
    assert not [signature for signature in shown if private.search(signature)]
    skipped = conf["skip_foreign"]
    member = importlib.import_module("groundmetric").GroundMetricLearning
    assert skipped(None, "class", "add_note", Warning.with_traceback, False, None)
    assert skipped(None, "class", "pairwise", member.pairwise, False, None) is None


def test_reports_of_examples_are_shown_once(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "_extensions"))
    reports = importlib.import_module("reports")
    monkeypatch.setattr(reports, "EXTRA", tmp_path)
    written = tmp_path / "report.html"
    written.write_text("all good")
    names = {"report": written}
    block = {"example_globals": names, "src_file": "plot_1_images.py"}
    assert 'src="../plot_1_images.html"' in reports.show_report(None, block, {})
    assert (tmp_path / "plot_1_images.html").read_text() == "all good"
    assert reports.show_report(None, block, {}) == ""
    block["example_globals"] = {"report": "none"}
    assert reports.show_report(None, block, {}) == ""
    # The front page shows the demo's.
    assert f'src="{reports.DEMO.name}"' in (DOCS / "index.md").read_text()


def test_every_page_is_in_one_table_of_contents():
    entries = [
        (page.parent / f"{line}.md").resolve()
        for page in PAGES
        for tree in TREE.findall(page.read_text())
        for line in tree.splitlines()
        if line and not line.startswith(":")
    ]
    assert len(entries) == len(set(entries))
    # From examples, as .rst.
    made = {DOCS / name / "index.md" for name in ("gallery", "tutorials")}
    assert made <= set(entries)
    assert set(entries) - made == set(PAGES) - {DOCS / "index.md"}


def test_links_lead_to_files():
    broken = [
        f"{name_of(page)}: {target}"
        for page in [*PAGES, *ROOT.glob("*.md"), *ROOT.glob("*/README.md")]
        for target in LINK.findall(page.read_text())
        if not MADE & set((page.parent / target).parts)
        and not (page.parent / target).exists()
    ]
    assert broken == []


def test_the_walk_through_the_code_is_short():
    page, _ = (DOCS / "architecture.md").read_text().split("## Where to change what")
    files = [target for target in LINK.findall(page) if target.endswith((".cpp", "py"))]
    walk = [target for target in files if "/tests/" not in target]
    assert "../src/groundmetric/learning/_estimator.py" in walk
    assert "../cpp/transport/pivot.cpp" in walk
    assert len(walk) == len(set(walk)) <= 20


@pytest.mark.parametrize(
    "page", [page for page in PAGES if BLOCK.search(page.read_text())], ids=name_of
)
def test_code_on_pages_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if "import torch" in page.read_text():
        torch()
    names = {}
    with contextlib.redirect_stdout(io.StringIO()) as out:
        for code in BLOCK.findall(page.read_text()):
            exec(compile(code, name_of(page), "exec"), names)  # noqa: S102 - our own
    plt.close("all")
    assert out.getvalue()
    if page.stem == "migrating":  # their answers are ours
        assert out.getvalue().count("True") == 9
        assert "False" not in out.getvalue()


def test_scripts_compile_and_say_what_they_show():
    for path in SCRIPTS:
        text = path.read_text()
        assert compile(text, name_of(path), "exec").co_consts[0].strip(), path
        assert "matplotlib" in text, path


def test_gallery_has_titles_and_names_that_are_run():
    for path in GALLERY:
        quotes, title, line, *_ = path.read_text().splitlines()
        assert (quotes, line) == ('"""', "=" * len(title)), path
        assert path.name.startswith("plot_"), path  # others are not run


@pytest.mark.parametrize("name", ["plot_04_repair", "plot_05_neighbors"])
def test_gallery_runs(name, capsys):
    names = runpy.run_path(str(ROOT / "examples" / "gallery" / f"{name}.py"))
    assert plt.get_fignums()
    plt.close("all")
    printed = capsys.readouterr().out
    if name == "plot_04_repair":
        assert "metric: False" in printed
        assert "metric: True" in printed
    else:
        assert printed.count("True") == 2
        assert names["search"].n_solves_ < 0.05 * 10 * len(names["base"])


@pytest.fixture
def run_tutorial(tmp_path, monkeypatch):
    """Run a tutorial, which leaves no temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def run(name):
        names = runpy.run_path(str(ROOT / "examples" / "tutorials" / f"{name}.py"))
        plt.close("all")
        assert Path(names["temporary"].name).parent == tmp_path
        assert list(tmp_path.iterdir()) == []
        return names

    return run


def test_tutorial_of_images_says_what_comes_out(run_tutorial, capsys, monkeypatch):
    def in_here(words, *, cwd, **_):
        assert words[:3] == [sys.executable, "-m", "groundmetric"]
        with monkeypatch.context() as there:
            there.chdir(cwd)
            done = CliRunner().invoke(app, words[3:], catch_exceptions=False)
        assert done.exit_code == 0
        return done

    # Without a process for each command, and with fewer draws in the report.
    monkeypatch.setattr(subprocess, "run", in_here)
    monkeypatch.setattr(_lesson, "N_DRAWS", 6)
    names = run_tutorial("plot_1_images")
    path = Path(names["__file__"])
    error = len(names["wrong"]) / len(names["new"].y)
    here = re.search(r"# 32 x 32   20 +(.*)", path.read_text())[1].split(" %")
    assert f"{100 * error:.1f}" == here[1].strip()
    assert f"{float(here[0]) / 100:.1%}".replace("%", " %") in capsys.readouterr().out


def test_tutorial_of_text_ends_below_word_movers_distance(capsys, monkeypatch):
    splits = model_selection.StratifiedShuffleSplit

    def few(_, **options):
        return splits(5, **options)

    monkeypatch.setattr(model_selection, "StratifiedShuffleSplit", few)
    names = runpy.run_path(str(ROOT / "examples" / "tutorials" / "plot_2_text.py"))
    plt.close("all")
    assert list(names["found"])[2:] == ["word mover's", "learned", "closed form"]
    assert names["mean"][4] < names["mean"][2] - 0.02
    assert names["mean"][3] < names["mean"][2] - 0.02
    assert f"learned         {names['mean'][3]:.1%} errors" in capsys.readouterr().out


def test_tutorial_of_many_distances_runs(run_tutorial, capsys):
    names = run_tutorial("plot_3_ten_million")
    printed = capsys.readouterr().out
    assert "same as without a crash: True" in printed
    assert "same distances: True" in printed
    assert "distances.npy.blocks" not in printed  # removed at the end
    assert 0 < int(re.search(r"killed after (\d+)", printed)[1]) < names["n_blocks"]


def test_tutorial_of_microbiomes_names_genera_that_were_changed(
    run_tutorial, capsys, monkeypatch
):
    once = functools.partial(experiments.compare, n_repeats=1)  # instead of twice
    monkeypatch.setattr(experiments, "compare", once)
    names = run_tutorial("plot_4_microbiome")
    assert len(names["named"]) >= 3
    assert set(names["named"]) <= names["true"]
    assert len(names["true"] & names["first"]) >= 7
    error = names["found"]["error"]
    assert error["taxonomy"] < error["hellinger"] - 0.1
    assert error["auto"] < error["hellinger"] - 0.1
    both = names["together"]
    assert both["patients divided"]["l1"] < both["kept together"]["l1"] - 0.2
    assert f"{len(names['named'])} of 8 that were changed, 0" in capsys.readouterr().out


def test_tutorial_of_compositions_needs_good_scales(capsys):
    tutorial = ROOT / "examples" / "tutorials" / "plot_5_compositions.py"
    names = runpy.run_path(str(tutorial))
    plt.close("all")
    error = names["found"]["error"]
    assert error["SVM, all four"] < error["SVM, no scale"] - 0.1
    assert error["learned, all four"] < error["learned, no scale"] - 0.08
    assert abs(error["SVM, useless"] - error["SVM, no scale"]) < 0.05
    assert min(names["others"]) < 100 * error["learned, useless"] < max(names["others"])
    assert names["without"] < 100 * error["learned, no scale"]
    weights = names["weights"]
    assert (weights["useless"] < 0.1).all()
    assert weights["A"].mean() > weights["B"].mean()
    design = names["outcomes"]["l1"].design
    assert (design.kind, design.n_splits, design.n_train) == ("disjoint", 8, 50)
    assert "ten random scales: " in capsys.readouterr().out


def test_tutorial_of_cells_finds_the_lineages_that_were_changed(capsys):
    names = runpy.run_path(str(ROOT / "examples" / "tutorials" / "plot_6_cells.py"))
    plt.close("all")
    error = names["found"]["error"]
    assert error["learned, points, power 1"] < error["learned"] - 0.1
    assert error["EMD"] < error["l1"] - 0.1
    sizes = [
        abs(names["position"][names["lineages"] == lineage].mean())
        for lineage in range(5)
    ]
    assert min(sizes[:2]) > 3 * max(sizes[2:])
    assert names["counts"].to_numpy().sum() == len(names["cells"])
    assert "lineage 4" in capsys.readouterr().out


def test_every_figure_is_shown():
    shown = {
        name
        for page in PAGES
        for name in re.findall(r"\.\. plot:: figures/(\w+)\.py", page.read_text())
    }
    assert shown == {path.stem for path in (DOCS / "figures").glob("*.py")}
