"""Put text, data, style and scripts into one HTML file.

All strings from users are escaped: text and attributes by ``html.escape``, data by
writing ``<``, ``>`` and ``&`` as escapes in its JSON. The Content-Security-Policy of
the page forbids it to load anything.
"""

from __future__ import annotations

import html
import json
import platform
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

import numpy as np

from ..experiments.gain import kind
from ._details import details, how
from ._learned import learned

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from ..experiments.verdict import Verdict
    from ._contents import Contents
    from ._evaluation import Evaluation

FOLDER = Path(__file__).parent
SCRIPTS = ("base.js", "charts.js", "heatmap.js", "features.js", "examples.js")
OURS = "groundmetric."
PACKAGES = ("groundmetric", "numpy", "scipy", "scikit-learn")


@dataclass(frozen=True)
class Extras:
    """What a page says beyond its evaluation.

    Attributes
    ----------
    title : str
        Heading.
    seed : int
        Seed of the splits.
    sentences : sequence of str
        Paragraphs after those on the verdict; "" is left out.
    notes : sequence of str
        Notes on the data, below the verdict.
    origin : mapping of str to str
        Settings to list: "command", which made the page, and where the data are from.
    options : mapping of str to object
        Without a command, other arguments of ``write_report`` that make this page.
    """

    title: str
    seed: int = 0
    sentences: Sequence[str] = ()
    notes: Sequence[str] = ()
    origin: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, object] = field(default_factory=dict)


def page(evaluation: Evaluation, found: Contents, extras: Extras) -> str:
    """Fill in the template."""
    verdict, origin = evaluation.verdict, extras.origin
    script = "\n".join(_text(name) for name in SCRIPTS)
    n_splits = evaluation.data.design.n_splits
    rest = f"The rest of this page shows the first of the {n_splits} splits."
    columns, rows = _table(verdict)
    return Template(_text("page.html")).substitute(
        title=html.escape(extras.title),
        style=_text("style.css"),
        script=f"(() => {{\n'use strict';\n{script}\n}})();",
        data=_as_data(found),
        subtitle=html.escape(_subtitle(evaluation)),
        kind=kind(verdict.gain("l1")),
        headline=_prose(verdict.headline()),
        details=_paragraphs([*details(evaluation), *extras.sentences]),
        how=_prose(how(evaluation)),
        columns=columns,
        errors=rows,
        about=_about(extras.notes),
        learned=learned(
            evaluation.stability, dict(zip(found["bins"], found["names"], strict=True))
        ),
        which=_paragraphs([found["which"]]),
        pictures=_paragraphs([found["pictures"]["caption"]]),
        shown=f"these {len(found['bins'])}" if found["which"] else "all",
        rest=_paragraphs([rest] if n_splits > 1 else []),
        way="Closed form" if evaluation.learner._has_closed_form else "Descent",
        descent=_descent(evaluation.learner),
        kappa=evaluation.n_neighbors,
        settings=_rows([*origin.items(), *_settings(evaluation)]),
        snippet=html.escape(origin.get("command") or _snippet(evaluation, extras)),
    )


def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _as_data(found: Contents) -> str:
    """JSON that cannot close the element that contains it."""
    text = json.dumps(found, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _subtitle(evaluation: Evaluation) -> str:
    data = evaluation.data
    return (
        f"{len(data.train)} training histograms, {len(data.test)} test histograms, "
        f"{data.train.shape[1]:,} features, {len(data.classes)} classes"
    )


def _table(verdict: Verdict) -> tuple[str, str]:
    """Write the titles of the columns, and the rows; narrow screens hide "Saved"."""
    titles = verdict.columns()
    marks = [' class="saved"' if name.startswith("Saved") else "" for name in titles]
    head = [
        f'<th scope="col"{mark}>{html.escape(name)}</th>'
        for mark, name in zip(marks, titles, strict=True)
    ]
    body = []
    for name, (label, *cells) in zip(verdict.names(), verdict.rows(), strict=True):
        cell = "".join(
            f"<td{mark}>{html.escape(text)}</td>"
            for mark, text in zip(marks, cells, strict=True)
        )
        body.append(
            f'<tr class="is-{name}"><th scope="row"><span class="key"></span>'
            f"{html.escape(label)}</th>{cell}</tr>"
        )
    return "".join(head), "\n".join(body)


def _settings(evaluation: Evaluation) -> Iterable[tuple[str, str]]:
    data, learner = evaluation.data, evaluation.learner
    for name, value in learner.get_params(deep=False).items():
        yield name, _shown(value)
    how = ", in closed form" if learner._has_closed_form and learner.path_ else ""
    yield "steps taken", f"{len(learner.path_)}{how}"
    if learner.path_:
        yield "time to learn", f"{learner.path_[-1].seconds:.2f} s"
    for part, rows, codes in (
        ("training set", data.train, data.y),
        ("test set", data.test, data.z),
    ):
        counts = np.bincount(codes, minlength=len(data.classes))
        sizes = ", ".join(
            f"{label}: {n}" for label, n in zip(data.classes, counts, strict=True)
        )
        shape = f"{rows.shape[0]} × {rows.shape[1]}"  # noqa: RUF001 - a sign
        yield part, f"{shape} ({sizes}); SHA-256 {_digest(rows)}"
    yield "Python", f"{platform.python_version()} on {platform.machine()}"
    for package in PACKAGES:
        yield package, version(package)


def _has_arrays(value: object) -> bool:
    """Whether a parameter is an array, or several."""
    if isinstance(value, (list, tuple)):
        return any(map(_has_arrays, value))
    return isinstance(value, np.ndarray)


def _shown(value: Any) -> str:
    """Write a parameter; arrays are too long."""
    if not _has_arrays(value):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_shown, value))
    return f"array {value.shape}; SHA-256 {_digest(value)}"


def _digest(values: NDArray[Any]) -> str:
    return sha256(values.tobytes()).hexdigest()[:12]


def _snippet(evaluation: Evaluation, extras: Extras) -> str:
    if evaluation.data.was_split:
        rest = f"X=X, y=y, random_state={extras.seed}"
    else:
        rest = "X=X, y=y, X_test=X_test, y_test=y_test"
    if evaluation.data.design.groups is not None:
        given = "" if evaluation.data.was_split else ", groups_test=groups_test"
        rest += f", groups=groups{given}"
    rest += "".join(f", {name}={value!r}" for name, value in extras.options.items())
    learner = evaluation.learner
    defaults = type(learner)().get_params(deep=False)
    used = (type(each) for each in (learner, *learner.get_params().values()))
    names = sorted({c.__name__ for c in used if c.__module__.startswith(OURS)})
    arrays, words = "", []
    for name, value in learner.get_params(deep=False).items():
        if _has_arrays(value):
            arrays += f"# {name}: {_shown(value)}\n"
            words.append(f"{name}={name}")
        elif repr(value) != repr(defaults[name]):
            words.append(f"{name}={value!r}")
    return (
        f"from groundmetric import {', '.join(names)}\n"
        "from groundmetric.report import write_report\n\n"
        f"{arrays}learner = {type(learner).__name__}({', '.join(words)})\n"
        f'write_report("report.html", learner=learner, {rest},\n'
        f"             n_neighbors={evaluation.n_neighbors})\n"
    )


def _descent(learner: Any) -> str:
    """Say what the curve of the criterion shows, or that there is none."""
    if learner._has_closed_form:
        return (
            "The positions of the features solve one system of equations: there are no "
            "steps to show."
            if learner.path_
            else "Cross-validation chose not to learn: the metric is the initial one."
        )
    what = (
        "The <strong>criterion</strong> at each step: low if similar pairs are close "
        "and dissimilar ones far apart. "
    )
    if any(step.inner for step in learner.path_):
        return (
            f"{what}Each outer step lowers a convex bound on it. Dots mark where an "
            "outer step begins and the bound is exact; the ring marks the minimum."
        )
    return (
        f"{what}Each step follows a subgradient, so a single one may raise it. The "
        "ring marks the minimum."
    )


def _rows(settings: Iterable[tuple[str, str]]) -> str:
    return "\n".join(
        f'<tr><th scope="row">{html.escape(name)}</th>'
        f"<td>{html.escape(value)}</td></tr>"
        for name, value in settings
    )


def _about(notes: Iterable[str]) -> str:
    """Write the notes on the data as a list, if there are any."""
    items = "\n".join(f"<li>{_prose(note)}</li>" for note in notes)
    if not items:
        return ""
    return (
        '<section id="about" aria-labelledby="about-title">\n'
        '<h2 id="about-title">About the data</h2>\n'
        f'<div class="card"><ul>\n{items}\n</ul></div>\n</section>'
    )


def _paragraphs(sentences: Iterable[str]) -> str:
    return "\n".join(f"<p>{_prose(text)}</p>" for text in sentences if text)


def _prose(text: str) -> str:
    """Escape; keep numbers and percent signs on one line."""
    return html.escape(text).replace(" %", "&nbsp;%")
