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
    ("projection onto the metrics", "yes", NO, NO, NO),
    ("scikit-learn estimators", "yes", "similar, for domain adaptation", NO, "yes"),
    ("entropic smoothing", "debiased, with gradient in M", "yes", NO, NO),
    ("barycenters on given bins", "smoothed or exact, with a bound", "yes", NO, NO),
    ("Gromov, autograd", NO, "yes", NO, NO),
)


@cache
def _results() -> dict:
    return json.loads(RESULTS.read_text())


def rows() -> list[dict]:
    """Return the rows of all benchmarks."""
    return [row for some in _results()["rows"].values() for row in some]


def row(start: str) -> dict:
    """Return the only row that starts with this text."""
    (found,) = (row for row in rows() if row["what"].startswith(start))
    return found


def notes() -> dict[str, str]:
    """Return the notes of the benchmarks."""
    return _results()["notes"]


def machine() -> list[str]:
    """Say what the benchmarks ran on."""
    return _results()["machine"]


def _ratio(start: str) -> str:
    """Return the ratio of the peer's time to ours."""
    return _times(row(start)["ratio"])


def _times(ratio: float) -> str:
    return f"{float(f'{ratio:.2g}'):,g}x"


def _version(name: str) -> str:
    return re.search(rf"\b{name} ([\d.]+)", " ".join(machine())).group(1)


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def table() -> str:
    """List the machine, and all ratios to peers."""
    lines = [line_of(**row) for row in rows()]
    ran_on = "\n".join(machine())
    sections = notes()
    return "\n".join(
        [
            f"```text\n{ran_on}\n```\n\n{HEADER}",
            *lines,
            f"\n{sections['transport']}\n\n{sections['cone']}\n\n{sections['beyond']}",
        ]
    )


def growth() -> str:
    """Show how the cost of a fit grows with the number of histograms."""
    return notes()["learning"]


def sizes() -> str:
    """Show how long many pairs take."""
    return notes()["sizes"]


def _solved() -> str:
    """Say how few pairs a search for neighbors solves."""
    note = row("5 nearest of 2,000, learned metric")["note"]
    return f"{float(re.search(r'([.0-9]+)%', note)[1]):.0f} %"


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
        ("pairs solved for 5 nearest of 2,000", _solved(), "all", "all", NO),
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


def summary() -> str:
    """Sum up the comparison in three sentences."""
    errors = reproduction.errors()
    return (
        "For an exact EMD between histograms with 128 bins, POT takes "
        f"{_ratio('cold, d = 128')} as long as groundmetric,\nand pyemd "
        f"{_ratio('pyemd, ')}. A search for the 5 nearest of 2,000 histograms solves "
        f"{_solved()} of the pairs.\nA metric learned from 30 + 30 images makes "
        f"{errors['gml']} % nearest-neighbor errors; metric-learn's LMNN\nmakes "
        f"{errors['lmnn-hellinger']} %, its ITML {errors['itml-hellinger']} %."
    )


MAKERS = {"ratios": table, "growth": growth}
