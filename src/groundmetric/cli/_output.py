"""Files to write: judged before anything is computed, written whole or not at all."""

import csv
import functools
import inspect
import io
import os
import shlex
import stat
import sys
from collections.abc import Callable, Iterable, Sequence
from inspect import Parameter
from pathlib import Path
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray

from .. import _files
from ._console import note
from ._options import INPUT, Force, Output

DIGITS = "%.17g"  # what makes the same number again

Named = tuple[str, str | Path | None]  # the option, and its file
Marked = list[tuple[object, str, Any]]  # the mark, too


def judged(command: Callable[..., None]) -> Callable[..., None]:
    """Judge all outputs of a command before it runs; add --force and --no-clobber.

    Outputs and inputs are the parameters that are marked as such. A command that is
    interrupted says how to go on, if there is an output that it goes on with.
    """
    signature = inspect.signature(command)
    marks = {
        name: mark
        for name, parameter in signature.parameters.items()
        for mark in getattr(parameter.annotation, "__metadata__", ())
        if mark is INPUT or isinstance(mark, Output)
    }

    @functools.wraps(command)
    def run(**given: Any) -> None:  # noqa: ANN401 - whatever the command takes
        context = given["context"]
        called = {one.name: _called(one) for one in context.command.params}
        files = [(mark, called[name], given[name]) for name, mark in marks.items()]
        _judge_marked(files, force=given["force"])
        try:
            command(**{name: given[name] for name in signature.parameters})
        except KeyboardInterrupt:
            note(_farewell(files, context.obj))
            raise

    added = [
        Parameter("force", Parameter.KEYWORD_ONLY, annotation=Force, default=None),
        Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context),
    ]
    missing = [one for one in added if one.name not in signature.parameters]
    parameters = [*signature.parameters.values(), *missing]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return run


def _called(parameter: Any) -> str:  # noqa: ANN401 - typer's, and has no public name
    if parameter.param_type_name == "option":
        return str(parameter.opts[0])
    return str(parameter.metavar or parameter.name).strip("[]")


def _judge_marked(files: Marked, *, force: bool | None) -> None:
    inputs = [(option, path) for mark, option, path in files if mark is INPUT]
    written, replaced = [], []
    for mark, option, path in files:
        if not isinstance(mark, Output) or path is None:
            continue
        if mark.folder:
            _require_folder(path, option)
            continue
        if mark.suffixes:
            require_suffix(path, *mark.suffixes, option=option)
        _files.require_writable(path, option)
        written.append((option, path))
        if not mark.continues:
            replaced.append((option, path))
    _require_apart(written, inputs)
    _replace(replaced, force=force)


def judge(
    outputs: Sequence[Named], inputs: Sequence[Named], *, force: bool | None
) -> None:
    """Judge files that have no option of their own, once their names are known."""
    _require_apart(outputs, inputs)
    _replace(outputs, force=force)


def _require_apart(outputs: Sequence[Named], inputs: Sequence[Named]) -> None:
    """Refuse an output that is an input, or another output."""
    taken = [(*one, _traits(one[1])) for one in inputs]
    for option, path in outputs:
        traits = _traits(path)
        for other, file, others in taken:
            if traits & others:
                raise ValueError(
                    f"{option} is {path}, the same file as {other} ({file}); choose "
                    "another name."
                )
        taken.append((option, path, traits))


def _traits(file: str | Path | None) -> set[object]:
    """Tell a file from others: by its name without links, and by its number."""
    if file is None:
        return set()
    try:
        found = os.fstat(sys.stdin.fileno()) if file == "-" else Path(file).stat()
    except OSError:  # nothing there, or no standard input
        return {os.path.realpath(file)}
    if not stat.S_ISREG(found.st_mode):
        return set()  # a folder, a terminal or a pipe: nothing in it is replaced
    return {os.path.realpath(file), (found.st_dev, found.st_ino)}


def _replace(outputs: Iterable[Named], *, force: bool | None) -> None:
    """Name the files that are replaced, or refuse to, or say nothing."""
    for option, path in outputs:
        if path is None or force or not Path(path).is_file():
            continue
        if force is not None:
            raise ValueError(
                f"{option} is {path}, which exists; choose another name, or leave out "
                "--no-clobber."
            )
        note(f"replacing {path}")


def _farewell(files: Marked, words: Sequence[str]) -> str:
    for mark, _, path in files:
        if isinstance(mark, Output) and mark.continues and path and path.is_file():
            line = shlex.join(["groundmetric", *words])
            return f"interrupted; {path} has what was done. To go on: {line}"
    return "interrupted"


def require_suffix(path: Path | None, *suffixes: str, option: str = "--out") -> None:
    """Refuse a file that has another suffix than these."""
    if path is not None and path.suffix not in suffixes:
        raise ValueError(
            f"{option} is {path}; a file that ends in {' or '.join(suffixes)} is "
            "needed."
        )


def _require_folder(path: Path, option: str) -> None:
    """Refuse a folder that is not there and cannot be made, or not be written to."""
    there = next(p for p in (path, *path.absolute().parents) if p.exists())
    if not there.is_dir():
        raise ValueError(f"{option} is {path}, but {there} is no folder.")
    if not os.access(there, os.W_OK):
        raise ValueError(f"{option} is {path}, but {there} cannot be written to.")


def write_matrix(
    matrix: NDArray[Any],
    path: Path | None,
    *,
    columns: Sequence[str] | None = None,
    rows: Sequence[str] | None = None,
) -> None:
    """Write numbers as .npy or .csv; without a path, as CSV to standard output.

    CSV has the names of columns and rows, if they have some.
    """
    if path is not None and path.suffix == ".npy":
        _files.write_whole(path, lambda file: np.save(file, matrix))
    elif columns is not None:
        numbers = [[DIGITS % x for x in row] for row in matrix]
        if rows is not None:
            columns = ["", *columns]
            numbers = [[name, *row] for name, row in zip(rows, numbers, strict=True)]
        write_rows(columns, numbers, path)
    elif path is None:
        np.savetxt(sys.stdout, matrix, fmt=DIGITS, delimiter=",")
    else:
        _files.write_whole(
            path, lambda file: np.savetxt(file, matrix, fmt=DIGITS, delimiter=",")
        )


def write_rows(
    header: Sequence[str], rows: Iterable[Sequence[object]], path: Path | None
) -> None:
    """Write numbers and names as CSV, to a file or standard output."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([header, *rows])
    if path is None:
        sys.stdout.write(text.getvalue())
    else:
        _files.write_text(path, text.getvalue())
