"""Options that several commands have, described once."""

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

INPUT = object()  # marks a file to read


@dataclass(frozen=True)
class Output:
    """Marks a file to write, with the suffixes that it may have."""

    suffixes: tuple[str, ...] = ()
    continues: bool = False  # what is there is gone on with, not replaced
    folder: bool = False  # its files are judged as soon as they have names


Force = Annotated[
    bool | None,
    typer.Option(
        "--force/--no-clobber",
        help="Replace files without saying so, or refuse to replace any. By default, "
        "files that are replaced are named.",
        show_default=False,
    ),
]
Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="Histograms in rows: .csv (with a header), .parquet, .npy, .npz (X and "
        "y), a folder of images with a sub-folder for each class, or - for CSV on "
        "standard input.",
        show_default=False,
    ),
    INPUT,
]
Label = Annotated[
    str | None,
    typer.Option(
        help="Column of the labels, by name or number from 0. By default the only "
        "column of text.",
        show_default=False,
    ),
]
LabelsFile = Annotated[
    Path | None,
    typer.Option(
        "--labels",
        metavar="FILE",
        help="Labels in a file of their own: .npy, or text with one in each line.",
        show_default=False,
    ),
    INPUT,
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="A column to leave out; may be repeated.",
        show_default=False,
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of CSV has names; needed where it has numbers.",
        show_default=False,
    ),
]


class Features(str, Enum):
    """What images can be made into."""

    gist = "gist"
    color = "color"


Feature = Annotated[
    Features, typer.Option(help="What to make of images: edges, or colors.")
]


def _jobs(value: int) -> int:
    if value == 0:
        raise ValueError("--jobs is 0; 1 is one thread, -1 one for each processor.")
    return value


Jobs = Annotated[
    int,
    typer.Option(help="Threads; -1 is one for each processor.", callback=_jobs),
]
Seed = Annotated[int, typer.Option(help="For drawing; the same seed, the same result.")]
Json = Annotated[
    bool, typer.Option("--json", help="Print JSON, for scripts.", show_default=False)
]
Neighbors = Annotated[int, typer.Option(help="Neighbors that vote.")]
Limit = Annotated[
    int,
    typer.Option(help="Use at most so many histograms, class by class; 0 for all."),
]
Model = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="A model that fit wrote.", show_default=False),
    INPUT,
]
Matrix = Annotated[
    str,
    typer.Argument(
        metavar="MATRIX",
        help="A square matrix: .npy, CSV with or without names of rows and columns, "
        "or - for CSV on standard input.",
        show_default=False,
    ),
    INPUT,
]


def examples(*lines: str) -> str:
    """Show examples at the end of a command's help, a line each."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
