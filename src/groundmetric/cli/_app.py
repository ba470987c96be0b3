"""The application: its commands, and how it reports errors."""

import errno
import io
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from .. import __version__
from ._console import announce, note, one_line, release_notes, say_error
from ._options import as_option

# The base class of typer's usage errors, which has no public name.
UsageError: Any = typer.BadParameter.__mro__[1]
# The options that set parameters with other names.
OPTIONS = {"max_items": "--worst"} | {
    name: as_option(name.removeprefix("n_"))
    for name in (
        *("inner_steps", "max_steps", "n_folds", "n_jobs", "n_neighbors", "n_repeats"),
        *("n_similar", "n_splits", "step_size", "tol"),
    )
}
# Errors that users can fix; any other is a bug, and keeps its traceback.
EXPECTED = (ValueError, OSError, ImportError, MemoryError)
# The commands, and the first line of their help. Each has a module, which is imported
# when it is called, since some take seconds.
COMMANDS = {
    "fit": "Learn a metric from labeled histograms.",
    "evaluate": "Find out whether learning helps, and which learner to use.",
    "predict": "Predict the labels of new histograms.",
    "distances": "Compute distances, or find neighbors.",
    "project": "Find the nearest metric to a matrix.",
    "check": "Check whether a matrix is a metric, and list where it is not.",
    "report": "Write a report as one HTML file.",
    "demo": "Learn from handwritten digits.",
    "info": "Show what is installed, or describe a model.",
}


class OneLine(TyperGroup):
    """Commands whose errors are one line; ``context.obj`` has the command line."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - typer's
        """Name the commands."""
        return [*COMMANDS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"._{cmd_name}", __package__)
        command = getattr(module, cmd_name)
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(epilog=command.epilog, cls=Repeating)(command)
        return typer.main.get_command(alone)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items()])

    def main(self, *args: Any, **options: Any) -> Any:
        """Run, and exit with 2 after one line if the input is invalid."""
        options["standalone_mode"] = False
        given = args[0] if args else options.get("args")
        options["obj"] = [*(sys.argv[1:] if given is None else given)]
        with warnings.catch_warnings(), _termination() as terminated:
            # Always show these; warnings of other kinds are not for users.
            warnings.simplefilter("default", UserWarning)
            warnings.showwarning = _say  # type: ignore[assignment]
            try:
                code = super().main(*args, **options)
            except UsageError as error:
                if type(error).__name__ == "NoArgsIsHelpError":  # not public, either
                    error.show()
                    sys.exit(error.exit_code)
                text = error.format_message().replace("Value error, ", "")
                code = say_error(f"{' '.join(text.split())} (see --help)")
            except BrokenPipeError:
                raise
            except EXPECTED as error:
                code = say_error(_of_option(one_line(error)))
        release_notes()
        if terminated:
            sys.exit(128 + signal.SIGTERM)
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        """Run a command, and make sure that its output was written."""
        try:
            found = super().invoke(ctx)
            sys.stdout.flush()
        except OSError as error:
            # Errors of files name them, so this is standard output.
            if error.errno == errno.ENOSPC and error.filename is None:
                sys.stdout = io.StringIO()  # or Python tries again when it exits
                error.filename = "standard output"
            raise
        return found


class Repeating(TyperCommand):
    """A command whose options of several files may be named once for all of them."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Repeat such an option before each of its files, if DATA came first."""
        several = {name for one in self.params for name in one.opts if is_of_files(one)}
        if args and (args[0] == "-" or not args[0].startswith("-")):
            args = repeated(args, several)
        return super().parse_args(ctx, args)


def is_of_files(parameter: Any) -> bool:
    """Whether an option takes several files."""
    return bool(getattr(parameter, "multiple", False)) and parameter.metavar == "FILE"


def repeated(words: list[str], several: set[str]) -> list[str]:
    """Write ``--x a b`` as ``--x a --x b`` for these options."""
    found: list[str] = []
    current, n_values = "", 0
    for word in words:
        if word.startswith("-") and word != "-":
            current, n_values = (word if word in several else ""), 0
        elif current:
            if n_values:
                found.append(current)
            n_values += 1
        found.append(word)
    return found


@contextmanager
def _termination() -> Iterator[list[int]]:
    """Treat SIGTERM as Ctrl-C, which keeps the work so far; yield what came."""
    came: list[int] = []

    def stop(number: int, _frame: object) -> None:
        came.append(number)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield came
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield came
    finally:
        signal.signal(signal.SIGTERM, before)


def _of_option(message: str) -> str:
    """Name the option if a message starts with the parameter that it sets."""
    name, space, rest = message.partition(" ")
    return f"{OPTIONS.get(name, name)}{space}{rest}"


def _say(message: Warning | str, category: type[Warning], *_: object) -> None:
    # By name, since its module imports scikit-learn.
    tell = announce if category.__name__ == "LongFitWarning" else note
    tell(f"warning: {' '.join(str(message).split())}")


def _version(value: bool) -> None:  # noqa: FBT001 - typer's
    if value:
        typer.echo(f"groundmetric {__version__}")
        raise typer.Exit


app = typer.Typer(
    cls=OneLine,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _options(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version."
        ),
    ] = False,
) -> None:
    """Learn the ground metric of the earth mover's distance from labeled histograms.

    Start with: groundmetric demo
    """
