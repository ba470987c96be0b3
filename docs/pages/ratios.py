"""The tables from benchmarks/results.json, and the comparison with other packages."""

import json
import re
from functools import cache
from pathlib import Path

import reproduction
from measure import HEADER, line_of

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results.json"
OWN_CODE = "pyemd's C++ code"
NO = "–"  # noqa: RUF001 - a dash, as in print

# What packages offer, as of the versions in the table: groundmetric, POT, pyemd,
# metric-learn.
OFFERS = (
    (
        "learns from labels",
        "the ground metric of the EMD",
        "linear projections (`ot.dr`)",
        NO,
        "Mahalanobis distances",
    ),
    ("exact EMD", "yes", "yes", "through POT; its own code rounds", NO),
    ("proof that a plan is optimal", "potentials, gap", "potentials", NO, NO),
    ("histograms of different masses", "yes", "yes", "yes", NO),
    ("nearest neighbors without solving all pairs", "yes", NO, NO, NO),
    ("projection onto the metrics", "yes", NO, NO, NO),
    ("scikit-learn estimators", "yes", "similar, for domain adaptation", NO, "yes"),
    ("entropic smoothing", "debiased, with gradient in M", "yes", NO, NO),
    ("Gromov, barycenters, autograd", NO, "yes", NO, NO),
)


@cache
def _results() -> dict:
    return json.loads(RESULTS.read_text())


def _rows() -> list[dict]:
    return [row for rows in _results()["rows"].values() for row in rows]


def _ratio(start: str) -> str:
    """Return the ratio of the peer's time to ours, from the one row that starts so."""
    (row,) = (row for row in _rows() if row["what"].startswith(start))
    return _times(row["ratio"])


def _times(ratio: float) -> str:
    return f"{float(f'{ratio:.2g}'):,g}x"


def _version(name: str) -> str:
    return re.search(rf"\b{name} ([\d.]+)", " ".join(_results()["machine"])).group(1)


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def table() -> str:
    """List the machine, and all ratios to peers."""
    lines = [line_of(**row) for row in _rows()]
    machine = "\n".join(_results()["machine"])
    notes = _results()["notes"]
    return "\n".join(
        [
            f"```text\n{machine}\n```\n\n{HEADER}",
            *lines,
            f"\n{notes['transport']}\n\n{notes['cone']}\n\n{notes['beyond']}",
        ]
    )


def growth() -> str:
    """Show how the cost of a fit grows with the number of histograms."""
    return _results()["notes"]["learning"]


def sizes() -> str:
    """Show how long many pairs take."""
    return _results()["notes"]["sizes"]


def comparison() -> str:
    """Compare packages: what they do, how fast, how well."""
    names = (
        "",
        "groundmetric",
        f"POT {_version('POT')}",
        f"pyemd {_version('pyemd')}",
        "metric-learn",
    )
    pyemd = f"{_ratio('pyemd, ')}, its own code {_ratio(OWN_CODE)}"
    errors, seconds = reproduction.errors(), reproduction.seconds()
    learned = f"ITML {errors['itml-hellinger']}, LMNN {errors['lmnn-hellinger']}"
    itml, lmnn = (seconds[f"{m}-hellinger"] / seconds["gml"] for m in ("itml", "lmnn"))
    faster = f"ITML {itml:.1f}x, LMNN {lmnn:.1f}x"
    measured = (
        (
            "time per EMD, 128 bins",
            "1",
            _ratio("cold, d = 128"),
            pyemd,
            NO,
        ),
        (
            "the same, after the metric changes by 0.1 %",
            "1",
            _ratio("POT, potentials_init"),
            NO,
            NO,
        ),
        ("time to learn from 30 + 30 histograms", "1", NO, NO, faster),
        ("nearest-neighbor error, %", errors["gml"], NO, NO, learned),
    )
    head = [_line(*names), "|:---|" + ":---|" * (len(names) - 1)]
    lines = head + [_line(*cells) for cells in (*OFFERS, *measured)]
    return "\n".join(lines) + (
        "\n\nOR-Tools' minimum-cost flow takes "
        f"{_ratio('ortools')} as long per EMD, SciPy's linear program "
        f"{_ratio('scipy')}."
    )


MAKERS = {"ratios": table, "growth": growth}
