"""Pages about the code name only files, functions and parameters that exist.

What stands in backticks on these pages is a path, a ``make`` target, a name, or a call:
a path has to exist, a name has to be defined somewhere in the package or in the core,
``A.b`` and ``A::b`` in class A, a private name in a file that its section links, and a
call has to fit the signature.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ("docs/architecture.md", "docs/algorithms.md", "cpp/README.md")
PACKAGE = ROOT / "src" / "groundmetric"
SUFFIXES = {".py", ".pyi", ".cpp", ".h", ".md", ".js", ".css", ".html", ".json"}
# Not ours: of C, and a program.
FOREIGN = {"memmove", "perf"}
TICKED = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
LINKED = re.compile(r"\]\(([^)#\s]+\.py)\)")
COMMENT = re.compile(r"//[^\n]*|\"(?:\\.|[^\"\\\n])*\"")


class Definitions(ast.NodeVisitor):
    """What Python files define: names, members of classes, and signatures."""

    def __init__(self):
        self.names = set()
        self.members = {}  # of classes
        self.bases = {}
        self.parameters = {}  # of functions, by name: a list of each one's
        self._classes = []

    def visit_ClassDef(self, node):
        """Note a class, its bases, and its fields as parameters."""
        self.names.add(node.name)
        self.members.setdefault(node.name, set())
        self.bases.setdefault(node.name, set()).update(
            getattr(base, "id", getattr(base, "attr", None)) for base in node.bases
        )
        fields = [
            each.target.id for each in node.body if isinstance(each, ast.AnnAssign)
        ]
        self.parameters.setdefault(node.name, []).append(fields)
        self._classes.append(node.name)
        self.generic_visit(node)
        self._classes.pop()

    def visit_FunctionDef(self, node):
        """Note a function and its parameters; those of __init__ are the class's."""
        given = node.args
        every = [*given.posonlyargs, *given.args, *given.kwonlyargs]
        names = [each.arg for each in every if each.arg not in {"self", "cls"}]
        names += ["**"] * (given.kwarg is not None)
        self.names.update(names)
        self._define(node.name)
        made = self._classes[-1] if self._classes and node.name == "__init__" else None
        self.parameters.setdefault(made or node.name, []).append(names)
        self.generic_visit(node)

    def visit_Name(self, node):
        """Note a variable."""
        if isinstance(node.ctx, ast.Store):
            self._define(node.id)

    def visit_Attribute(self, node):
        """Note an attribute."""
        if isinstance(node.ctx, ast.Store):
            self._define(node.attr)
        self.generic_visit(node)

    def _define(self, name):
        self.names.add(name)
        for each in self._classes:
            self.members[each].add(name)

    def has_member(self, owner, name):
        """Look for a member in a class and its bases."""
        if name in self.members.get(owner, ()):
            return True
        return any(self.has_member(base, name) for base in self.bases.get(owner, ()))


@cache
def defined_in(*paths):
    found = Definitions()
    for path in paths:
        found.visit(ast.parse(path.read_text()))
    return found


@cache
def python():
    return defined_in(*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyi"))


@cache
def core_words():
    """Words of each file of the core, without comments and strings."""
    return {
        path: set(re.findall(r"\w+", COMMENT.sub(" ", path.read_text())))
        for path in (ROOT / "cpp").rglob("*")
        if path.suffix in {".h", ".cpp"}
    }


def modules():
    """Files of the core and modules of the package, without suffix."""
    files = [*(ROOT / "cpp").rglob("*"), *PACKAGE.rglob("*")]
    return {path.stem for path in files} | {path.name for path in files}


def is_defined(name):
    return name in python().names or any(
        name in words for words in core_words().values()
    )


def has_member(owner, name):
    if owner.islower():  # an object, of any class
        return any(name in members for members in python().members.values())
    return python().has_member(owner, name) or any(
        {owner, name} <= words for words in core_words().values()
    )


def wrong_in_call(call):
    """Arguments that no function of this name has."""
    name = getattr(call.func, "attr", getattr(call.func, "id", None))
    signatures = python().parameters.get(name)
    if signatures is None:
        return [] if is_defined(name) else [f"there is no function {name}"]
    plain = [each.id if isinstance(each, ast.Name) else None for each in call.args]
    named = [each.arg for each in call.keywords]
    for known in signatures:
        firsts = zip(plain, [*known, *[None] * len(plain)], strict=False)
        fits = all(given in {None, "X", "y", first} for given, first in firsts)
        if fits and ("**" in known or set(named) <= set(known)):
            return []
    return [f"{name} takes {' or '.join(map(str, signatures))}"]


def wrong_in_code(text):
    """Find what an expression names that does not exist."""
    code = text.replace("::", ".").replace("...", "None")
    code = re.sub(r"^(\w+)=(?!=)", r"\1 == ", code)  # a value of a parameter
    try:
        tree = ast.parse(code, mode="eval")
    except SyntaxError:
        return [f"{text} is not a path, name or call"]
    wrong = []
    callees = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            wrong += wrong_in_call(node)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if not has_member(node.value.id, node.attr):
                wrong.append(f"{node.value.id} has no {node.attr}")
        elif (
            isinstance(node, ast.Name)
            and id(node) not in callees
            and not is_defined(node.id)
            and node.id not in modules() | FOREIGN
        ):
            wrong.append(f"{node.id} is not defined in src/ or cpp/")
    return wrong


def wrong_path(text, page):
    folders = (ROOT, page.parent, PACKAGE, ROOT / "cpp")
    if any(list(folder.glob(text)) for folder in folders):
        return []
    if "/" not in text and list((ROOT / "cpp").rglob(text)) + list(PACKAGE.rglob(text)):
        return []
    return [f"there is no file {text}"]


def is_folder(text):
    """Return whether this is a folder at the top, or a subpackage with its dots."""
    package = PACKAGE.parent.joinpath(*text.split("."))
    return package.is_dir() or (text.isalpha() and (ROOT / text).is_dir())


def wrong_in(text, page, linked=()):
    """Find what is wrong with a text in backticks, in a section that links files."""
    command, *rest = text.split()
    if text in modules() or command in FOREIGN or is_folder(text):
        return []
    if linked and re.fullmatch(r"_[a-z_]+", text):
        files = ", ".join(path.name for path in linked)
        names = defined_in(*linked).names
        return [] if text in names else [f"not defined in {files}"]
    if command == "make" and rest:
        makefile = (ROOT / "Makefile").read_text()
        targets = re.findall(r"^([a-z-]+):", makefile, re.MULTILINE)
        return [] if rest[0] in targets else [f"make has no target {rest[0]}"]
    is_path = Path(text).suffix in SUFFIXES or "/" in text
    return wrong_path(text, page) if is_path else wrong_in_code(text)


@pytest.mark.parametrize("name", PAGES)
def test_what_a_page_names_exists(name):
    page = ROOT / name
    wrong, n = [], 0
    for section in re.split(
        r"^## ", FENCED.sub("", page.read_text()), flags=re.MULTILINE
    ):
        linked = [(page.parent / to).resolve() for to in LINKED.findall(section)]
        for text in dict.fromkeys(TICKED.findall(section)):
            n += 1
            wrong += [f"`{text}`: {what}" for what in wrong_in(text, page, linked)]
    assert n > 20
    assert not wrong, f"{name} names what does not exist:\n  " + "\n  ".join(wrong)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("learning/_estimators.py", "there is no file"),
        ("cpp/*.rs", "there is no file"),
        ("make everything", "no target everything"),
        ("_move_it", "_move_it is not defined"),
        ("Descent.walk", "Descent has no walk"),
        ("TransportSimplex::fly", "TransportSimplex has no fly"),
        ("project_metric(A, radios=1)", "project_metric takes"),
        ("MetricProjector(n)", "MetricProjector takes"),
        ("two words", "is not a path, name or call"),
    ],
)
def test_what_does_not_exist_is_found(text, what):
    (found,) = wrong_in(text, ROOT / PAGES[0])
    assert what in found


def test_the_picture_of_the_architecture_shows_files_that_exist():
    picture = (ROOT / "docs" / "figures" / "architecture.svg").read_text()
    shown = re.findall(r"[\w/]+\.(?:py|cpp)", picture)
    assert len(shown) > 10
    found = [wrong_path(path, ROOT / PAGES[0]) for path in shown]
    assert not any(found), [each for each in found if each]


def test_private_names_are_those_of_linked_files():
    linked = [PACKAGE / "cone" / "_triangle.py"]
    assert wrong_in("_largest_violation", ROOT / PAGES[0], linked) == []
    (found,) = wrong_in("_into_ball", ROOT / PAGES[0], linked)
    assert found == "not defined in _triangle.py"


@pytest.mark.parametrize(
    "text",
    [
        "Descent.run",
        "TransportSimplex::optimize",
        "project_metric(-center, radius=1)",
        "GroundMetricLearning().fit(X, y)",
        "bindings*.cpp",
        "make test",
        "tol=1e-6",
        "MetricProjector.project(..., radius=1)",
    ],
)
def test_what_exists_is_accepted(text):
    assert wrong_in(text, ROOT / "docs" / "architecture.md") == []
