"""The application: its commands, and how it ends."""

import errno
import io
import sys
import warnings
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from .. import __version__
from ._console import note, one_line, release_notes, say_error

# The base of what typer says about wrong usage, which has no public name.
UsageError: Any = typer.BadParameter.__mro__[1]
WRONG = 2  # exit code
# What options are called where they are judged.
OPTIONS = {
    "max_inner": "--max-inner",
    "max_items": "--worst",
    "max_outer": "--max-outer",
    "n_folds": "--folds",
    "n_jobs": "--jobs",
    "n_neighbors": "--neighbors",
    "n_repeats": "--repeats",
    "n_similar": "--similar",
    "step_size": "--step-size",
    "tol": "--tol",
}
# What a user can mend; anything else is our mistake, and shows where.
EXPECTED = (ValueError, OSError, ImportError, MemoryError)
# The module of a command, the examples there, and the first line of its help: modules
# are imported when they are called, for some take seconds.
COMMANDS = {
    "fit": ("_fit", "EPILOG", "Learn a metric from labeled histograms."),
    "evaluate": ("_evaluate", "EPILOG", "Tell whether learning helps on your data."),
    "distances": ("_distances", "EPILOG", "Compute distances, or find neighbors."),
    "project": ("_cone", "PROJECT", "Find the nearest metric to a matrix."),
    "check": (
        "_cone",
        "CHECK",
        "Tell whether a matrix is a metric, and where it is not.",
    ),
    "report": ("_report", "EPILOG", "Write a report as one HTML file."),
    "demo": ("_demo", "EPILOG", "Learn from handwritten digits."),
    "reproduce": ("_reproduce", "REPRODUCE", "Run the paper's experiments."),
    "figures": (
        "_figures",
        "FIGURES",
        "Draw the paper's figures from results, and tabulate what they show.",
    ),
    "info": ("_info", "EPILOG", "Tell what is installed, and what it runs on."),
}


class OneLine(TyperGroup):
    """Commands whose errors are one line; each may ask how it was called."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002 - typer's
        """Name the commands."""
        return [*COMMANDS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401, ARG002
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        name, epilog, _ = COMMANDS[cmd_name]
        module = import_module(f".{name}", __package__)
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(epilog=getattr(module, epilog))(getattr(module, cmd_name))
        return typer.main.get_command(alone)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][-1]) for name in COMMANDS])

    def main(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - typer's
        """Run, and exit with 2 after one line if the input is at fault."""
        options["standalone_mode"] = False
        given = args[0] if args else options.get("args")
        options["obj"] = [*(sys.argv[1:] if given is None else given)]
        with warnings.catch_warnings():
            # Shown, whatever the filters are; those of other kinds are not for users.
            warnings.simplefilter("default", UserWarning)
            warnings.showwarning = _say  # type: ignore[assignment]
            try:
                code = super().main(*args, **options)
            except UsageError as error:
                if type(error).__name__ == "NoArgsIsHelpError":  # no public name either
                    error.show()
                    sys.exit(error.exit_code)
                said = error.format_message().replace("Value error, ", "")
                code = _wrong(f"{' '.join(said.split())} (--help shows how)")
            except BrokenPipeError:
                raise
            except EXPECTED as error:
                code = _wrong(as_option(one_line(error)))
            except RuntimeError as error:
                # Not imported, for all of the experiments would be.
                if type(error).__name__ != "MissingResultsError":
                    raise
                code = _wrong(one_line(error))
        release_notes()
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - typer's
        """Run a command, and see that what it printed has arrived."""
        try:
            found = super().invoke(ctx)
            sys.stdout.flush()
        except OSError as error:
            # Files are named, so this is about standard output.
            if error.errno == errno.ENOSPC and error.filename is None:
                sys.stdout = io.StringIO()  # or Python tries again at its exit
                error.filename = "standard output"
            raise
        return found


def as_option(message: str) -> str:
    """Name the option, where an error names the parameter that it sets."""
    name, space, rest = message.partition(" ")
    return f"{OPTIONS.get(name, name)}{space}{rest}"


def _wrong(message: str) -> int:
    say_error(message)
    return WRONG


def _say(message: Warning | str, *_: object) -> None:
    note(f"warning: {' '.join(str(message).split())}")


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
