"""How long things take and how much memory, from committed results."""

import re

import ratios
import reproduction

SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
MANY = (1e4, 1e6, 1e7)  # pairs
# Rows of benchmarks/results.json, by their beginning, and their name on the page.
TASKS = (
    ("fit, 30 + 30 histograms, margins", "learn from 60 histograms, 128 bins"),
    (
        "fit, 30 + 30 histograms, C_k, all similar",
        "the same by the paper's criterion, 20 steps",
    ),
    (
        "5 nearest of 2,000, learned",
        "find the 5 nearest of 2,000 histograms, 128 bins, a query",
    ),
    (
        "5 nearest of 2,000 documents",
        "find the 5 nearest of 2,000 documents on 20 topics, a query",
    ),
    (
        "word mover's distance",
        "a word mover's distance, 69 different words, 300 coordinates",
    ),
    ("Sinkhorn, ot.sinkhorn, d = 128, smoothing 1", "a smoothed distance, 128 bins"),
    (
        "solved again, metric changed by 0.1 %",
        "a distance again, after the metric changed by 0.1 %, 128 bins",
    ),
    ("project, Euclidean", "project a noisy matrix onto the metrics, 128 bins"),
    ("project, a step at d = 512, two", "the same in a descent, 512 bins, two threads"),
)
LEARNERS = {
    "gml": "`GroundMetricLearning`",
    "gml-neighborhood": "the same, paper's criterion",
    "gml-smoothed": "`SinkhornMetricLearning`",
    "lmnn-hellinger": "LMNN",
    "itml-hellinger": "ITML",
    "nca-hellinger": "NCA",
    "chi2-lmnn": "chi-squared LMNN",
}


def seconds(text: str) -> float:
    """Read a time such as "1,168.6 us"."""
    number, unit = re.match(r"([\d.,]+) (us|ms|s)\b", text).groups()
    return float(number.replace(",", "")) * SECONDS[unit]


def words(duration: float) -> str:
    """Write a time with the unit that suits it."""
    units = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
    unit = max((u for u in units if units[u] <= duration), key=units.get, default="us")
    return f"{float(f'{duration / units[unit]:.2g}'):g} {unit}"


def distances() -> str:
    """Show the time of many distances, by the number of bins."""
    lines = [
        "| bins | a pair | 10,000 pairs | a million | ten million | the metric |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    found = {
        int(match[1]): seconds(row["ours"])
        for row in ratios.rows()
        if (match := re.fullmatch(r"cold, d = (\d+)", row["what"]))
    }
    for d, each in sorted(found.items()):
        cells = [words(each), *(words(n * each) for n in MANY)]
        lines.append(f"| {d} | {' | '.join(cells)} | {8 * d * d / 1e6:.2g} MB |")
    return "\n".join(lines)


def tasks() -> str:
    """Show the time of everything else."""
    lines = ["| To | takes |", "|:---|---:|"]
    for start, what in TASKS:
        row = ratios.row(start)
        lines.append(f"| {what} | {words(seconds(row['ours']))} |")
    return "\n".join(lines)


def learners() -> str:
    """Show the mean time to learn of the learners, over the paper's tasks."""
    found = reproduction.seconds()
    lines = ["| Learner | mean time to learn |", "|:---|---:|"]
    lines += [f"| {title} | {words(found[m])} |" for m, title in LEARNERS.items()]
    return "\n".join(lines)


def memory() -> str:
    """List the measured peaks."""
    notes = ratios.notes()
    return "\n".join(f"- {notes[name]}" for name in ("transport", "cone", "beyond"))


def machine() -> str:
    """Say what the benchmarks ran on."""
    return "```text\n" + "\n".join(ratios.machine()) + "\n```"


MAKERS = {
    "machine": machine,
    "distances": distances,
    "tasks": tasks,
    "growth": ratios.growth,
    "learners": learners,
    "memory": memory,
}
