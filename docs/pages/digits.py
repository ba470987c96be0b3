"""Results of the demo on handwritten digits, for README and documentation."""

import json
from functools import cache
from pathlib import Path

import numpy as np

from groundmetric.experiments.names import LABELS
from groundmetric.report import _demo

DOCS = Path(__file__).parents[1]
RESULTS = DOCS / "digits.json"
SNIPPET = Path(__file__).with_name("snippet.py")
# Digits, and the number of training images of each. The first task is the demo's; the
# others show where else learning helps, and where it does not.
TASKS = (
    (_demo.DIGITS, _demo.N_EACH),
    (_demo.DIGITS, 10),
    (range(10), 5),
    (range(10), 10),
    ((4, 9), 5),
    ((4, 9), 20),
)


def measure() -> None:
    """Measure all tasks and save the results; takes a few minutes."""
    found = []
    for digits, n_each in TASKS:
        task = _demo.measure(_demo.data_of(digits, n_each), jobs=-1).verdict
        errors = {
            name: np.round(one.knn_errors, 5).tolist()
            for name, one in task.found.items()
        }
        saved = task.gain("l1")
        found.append(
            {
                "digits": list(digits),
                "n_each": n_each,
                "n_test": task.learned.design.n_test,
                "n_neighbors": task.n_neighbors,
                "saved": {
                    end: round(getattr(saved, end), 5) for end in ("low", "high")
                },
                "errors": errors,
            }
        )
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")
    results.cache_clear()


@cache
def results() -> list[dict]:
    """Load the results of all tasks, the demo's first."""
    return json.loads(RESULTS.read_text())


def snippet() -> str:
    """Show the demo's task in ten lines of code, and their output."""
    task = results()[0]
    lines = []
    for name in ("l1", "learned"):
        errors = np.array(task["errors"][name])
        spread = errors.std(ddof=1)
        lines.append(f"{name:8s}{errors.mean():.1%} errors, std. dev. {spread:.1%}")
    code, printed = SNIPPET.read_text(), "\n".join(lines)
    return f"```python\n{code}```\n\n```text\n{printed}\n```\n\n{_read_as(task)}"


def _read_as(task: dict) -> str:
    n, won = _wins(task)
    return (
        f"Mean error of {task['n_neighbors']} nearest neighbors for {n} training sets "
        f"of {task['n_each']} images per digit, with no image in common,\nand the same "
        f"{task['n_test']} test images. Learning makes fewer errors with {won} of the "
        f"{n} training sets; with\n95 % confidence, it saves "
        f"{100 * task['saved']['low']:.1f} to {100 * task['saved']['high']:.1f} "
        "percentage points."
    )


def _wins(task: dict) -> tuple[int, int]:
    ours, theirs = (np.array(task["errors"][name]) for name in ("learned", "l1"))
    return len(ours), int((ours < theirs).sum())


def table() -> str:
    """Compare distances on all tasks."""
    names = ("l1", "l2", "hellinger", "chi2", "pixels", "learned")
    titles = [LABELS[name] for name in names]
    head = ["digits", "images of each", *titles, "saved", "95 % interval", "won"]
    lines = [f"| {' | '.join(head)} |", "|:---|" + "---:|" * (len(head) - 1)]
    for task in results():
        digits = task["digits"]
        which = "all ten" if len(digits) == 10 else ", ".join(map(str, digits))  # noqa: PLR2004
        errors = {name: 100 * np.array(task["errors"][name]) for name in names}
        saved = errors["l1"] - errors["learned"]
        n, won = _wins(task)
        cells = [f"{errors[name].mean():.1f}" for name in names]
        low, high = (100 * task["saved"][end] for end in ("low", "high"))
        cells += [f"{saved.mean():+.1f}", f"{low:+.1f} to {high:+.1f}", f"{won} of {n}"]
        lines.append(f"| {which} | {task['n_each']} | {' | '.join(cells)} |")
    return "\n".join(lines)
