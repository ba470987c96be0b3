"""Print one table of ratios: ``make bench`` or ``make bench DATA=file.npz``.

``SAVE=yes`` puts the results into results.json, from where ``make pages`` takes them.
"""

import argparse
import json
from collections.abc import Iterable
from dataclasses import asdict
from functools import partial
from pathlib import Path

import beyond
import cone
import learning
import maps
import neighbors
import numpy as np
import peers
import priors
import sinkhorn
import sizes
import tables
import transport
import words
from measure import HEADER, Row, line_of, machine

RESULTS = Path(__file__).with_name("results.json")
PARTS = (
    "transport",
    "cone",
    "tables",
    "learning",
    "neighbors",
    "peers",
    "sinkhorn",
    "beyond",
)
# Measured on request, and not saved: the table in README.md is from a separate run.
ON_REQUEST = ("sizes", "words", "maps", "priors")


def load(path: Path | None) -> tuple[np.ndarray, np.ndarray, str]:
    """Labeled histograms with 128 bins: arrays X and y of a file, or synthetic ones."""
    if path is None:
        rng = np.random.default_rng(0)
        y = np.repeat(np.arange(20), 100)
        shapes = rng.gamma(1.0, size=(20, 128))
        X, name = rng.gamma(shapes[y]), "made: gamma histograms of 20 classes"
    else:
        with np.load(path, allow_pickle=False) as file:
            X, y, name = file["X"].astype(float), file["y"], path.name
    return X / X.sum(axis=1, keepdims=True), y, name


def shown(rows: Iterable[Row]) -> list[Row]:
    """Print rows as they come, and keep them."""
    kept = []
    for row in rows:
        print(line_of(**asdict(row)), flush=True)
        kept.append(row)
    return kept


def save(facts: list[str], measured: dict[str, list[Row]], notes: dict) -> None:
    """Put these parts into results.json, and leave the others there."""
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"rows": {}}
    if results.get("machine", facts) != facts and set(measured) != set(PARTS):
        raise SystemExit(
            "Other parts were measured elsewhere or on other data: measure them all."
        )
    rows = {part: [asdict(row) for row in rows] for part, rows in measured.items()}
    results["machine"] = facts
    results["rows"] = {
        part: rows.get(part, results["rows"].get(part, [])) for part in PARTS
    }
    results["notes"] = results.get("notes", {}) | notes
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


def main() -> None:
    """Measure everything, or the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data",
        type=Path,
        help="an .npz file with arrays X and y; for words and maps, see words.py",
    )
    parser.add_argument("--only", choices=PARTS + ON_REQUEST, help="one part")
    parser.add_argument("--save", action="store_true", help="into results.json")
    options = parser.parse_args()
    if options.only == "priors" and options.data is None:
        parser.error("priors needs --data: see priors.py")
    own = options.only in {"words", "maps", "priors"}  # they read files of another kind
    X, y, name = load(None if own else options.data)
    facts = [*machine(), f"Histograms: {name}, {X.shape[0]} x {X.shape[1]}"]
    if own:
        facts[-1] = f"Data: {options.data or 'made up'}"
    parts = PARTS if options.only is None else (options.only,)
    print("\n".join(facts) + "\n\n" + HEADER)
    by_size: dict = {}
    rows = {
        "sizes": partial(sizes.rows, by_size),
        "words": partial(words.rows, options.data),
        "maps": partial(maps.rows, options.data),
        "priors": partial(priors.rows, options.data),
        "transport": partial(transport.rows, X),
        "cone": partial(cone.rows, X, y),
        "tables": partial(tables.rows, X),
        "learning": partial(learning.rows, X, y),
        "neighbors": partial(neighbors.rows, X, y),
        "peers": partial(peers.rows, X),
        "sinkhorn": partial(sinkhorn.rows, X),
        "beyond": beyond.rows,
    }
    measured = {part: shown(rows[part]()) for part in parts}
    after = {
        "sizes": partial(sizes.exponents, by_size),
        "transport": partial(transport.memory_line, X, np.random.default_rng(0)),
        "cone": cone.memory_line,
        "beyond": beyond.memory_line,
        "learning": learning.growth_table,
    }
    notes = {part: after[part]() for part in parts if part in after}
    if "beyond" in parts:
        notes["sizes"] = beyond.size_table()
    print("\n" + "\n\n".join(notes.values()))
    if options.save and options.only not in ON_REQUEST:
        save(facts, measured, notes)


if __name__ == "__main__":
    main()
