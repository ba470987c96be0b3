"""Options that several commands share, each declared once."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from typer import Argument, Option

INPUT = object()  # marks a file to read
NO_OPTION = object()  # marks what is set in code


@dataclass(frozen=True)
class Output:
    """Marks a file to write, with the suffixes that it may have."""

    suffixes: tuple[str, ...] = ()
    continues: bool = False  # an existing file is extended, not replaced


def as_option(name: str, *values: Any) -> str:
    """Spell an option as it is typed, once for each of several values."""
    option = f"--{name.replace('_', '-')}"
    if values in ((True,), (False,)):
        return option if values[0] else f"--no-{option[2:]}"
    each = values[0] if values and isinstance(values[0], list) else values
    return " ".join(f"{option} {shlex.quote(str(one))}" for one in each) or option


def _jobs(value: int) -> int:
    if value == 0:
        raise ValueError("--jobs is 0; use 1 for one thread, -1 for one per processor.")
    return value


InputFile = Annotated[str | None, Option(metavar="FILE"), INPUT]
InputFiles = Annotated[list[str] | None, Option(metavar="FILE"), INPUT]
InputPath = Annotated[Path | None, Option(metavar="FILE"), INPUT]
Unshown = Annotated[bool | None, Option(show_default=False)]
Jobs = Annotated[int, Option(help="Threads; -1 for one per processor.", callback=_jobs)]
Force = Annotated[
    bool | None,
    Option(
        "--force/--no-clobber",
        help="Replace existing files silently, or refuse to replace them. By default, "
        "files are replaced and named.",
    ),
]
Seed = Annotated[int, Option(help="Seed of the random draws; makes them repeatable.")]
Json = Annotated[bool, Option("--json", help="Print JSON, for scripts.")]
Neighbors = Annotated[int, Option(help="Number of neighbors that vote.")]
Limit = Annotated[
    int, Option(help="Use at most this many histograms, sampled by class; 0: all.")
]
Groups = Annotated[
    str | None,
    Option(
        metavar="COLUMN",
        help="Column of groups, such as patients or batches. Training and test do not "
        "share a group, and intervals are over groups.",
    ),
]
Folds = Annotated[int, Option(help="Folds of the cross-validation.")]
Repeats = Annotated[int, Option(help="Number of times to draw folds.")]
ModelFile = Option(metavar="FILE", help="A model of fit or of Python.")
Model = Annotated[Path | None, ModelFile, INPUT]
Matrix = Annotated[
    str,
    Argument(
        metavar="MATRIX",
        help="A square matrix: .npy, CSV with or without row and column names, or - "
        "for CSV on standard input.",
    ),
    INPUT,
]


@dataclass(frozen=True)
class Source:
    """DATA, and the options that say how to read it.

    Attributes
    ----------
    path
        Histograms in rows: .csv, .tsv or .txt (with a header; also .gz), .xlsx,
        .parquet, .npy, .npz (X and y), .h5ad, a folder of images or texts with a
        subfolder for each class, or - for CSV on standard input.
    label
        Column of the labels, by name or by number from 0. By default the only text
        column.
    labels
        Labels in a separate file: in order, .npy or text with one label per line; or a
        table of ids and labels, matched by id.
    id
        Column of the ids, which name the histograms in all results. By default guessed,
        and said.
    ignore
        A column to leave out; repeatable.
    keep
        A column to use as a bin, although it looks like an id or a measurement;
        repeatable.
    header
        Whether the first line of CSV has the column names; needed if that line has only
        numbers.
    transpose
        Samples are in columns, not in rows.
    missing
        Missing cells (empty, NA, NaN, <0.01): list them as an error, read them as zero,
        or drop their rows.
    vectors
        Vectors of words, in the text format of GloVe or word2vec, for a folder of
        texts.
    feature
        Describe images by their edges or their colors.
    empty
        Rows of zero mass, such as empty documents: reject them, let them count as the
        uniform histogram, or as incomparable with all others: left out of learning,
        predicted by the shares of the classes, at a distance that is NaN.
    jobs
        Threads; -1 for one per processor.
    """

    path: Annotated[str, Argument(metavar="DATA"), INPUT]
    label: str | None = None
    labels: InputPath = None
    id: Annotated[str | None, Option(metavar="COLUMN")] = None
    ignore: Annotated[list[str] | None, Option(metavar="COLUMN")] = None
    keep: Annotated[list[str] | None, Option(metavar="COLUMN")] = None
    header: Annotated[bool | None, Option("--header/--no-header")] = None
    transpose: Annotated[bool, Option("--transpose")] = False
    missing: Literal["error", "zero", "drop"] = "error"
    vectors: InputPath = None
    feature: Literal["gist", "color"] = "gist"
    empty: Literal["error", "uniform", "nan"] = "error"
    jobs: Jobs = -1
    # Another file that is read with the same options, whether this is the second one,
    # and what --labels is called.
    beside: Annotated[str | None, NO_OPTION] = None
    is_second: Annotated[bool, NO_OPTION] = False
    option: Annotated[str, NO_OPTION] = "--labels"
