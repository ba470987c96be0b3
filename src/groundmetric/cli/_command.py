"""Turn a function into a command: shared options, and checks of its files."""

import functools
import inspect
import shlex
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from inspect import Parameter
from typing import Any

import typer

from ._console import note
from ._options import INPUT, Force, Output
from ._output import Marked, check_marked

Function = Callable[..., None]


def command(*examples: str, without: tuple[str, ...] = ()) -> Callable[..., Function]:
    """Make a command, with examples in its help.

    A parameter that is a dataclass of options becomes these options, except those named
    in ``without``. Files, which are the parameters marked as input or output, are
    checked before the command runs; --force and --no-clobber are added to a command
    that writes any.
    """
    return lambda function: _command(function, examples, without)


def _command(function: Function, examples: tuple[str, ...], without: Any) -> Function:
    given = inspect.signature(function)
    groups = {
        name: [one for one in _options(parameter) if one.name not in without]
        for name, parameter in given.parameters.items()
    }
    options = [one for group in groups.values() for one in group]
    marks = {
        one.name: mark
        for one in options
        for mark in getattr(one.annotation, "__metadata__", ())
        if mark is INPUT or isinstance(mark, Output)
    }
    writes = any(isinstance(mark, Output) for mark in marks.values())

    @functools.wraps(function)
    def run(**values: Any) -> None:
        context = values["context"]
        called = {one.name: _called(one) for one in context.command.params}
        files = [(mark, called[name], values[name]) for name, mark in marks.items()]
        check_marked(files, force=values.get("force"))
        try:
            function(
                **{
                    name: _gathered(given.parameters[name], group, values)
                    for name, group in groups.items()
                }
            )
        except KeyboardInterrupt:
            note(_farewell(files, context.obj))
            raise

    extra = {"context": typer.Context} | ({"force": Force} if writes else {})
    options += [
        Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind, default=None)
        for name, kind in extra.items()
        if name not in {one.name for one in options}
    ]
    run.__signature__ = given.replace(parameters=options)  # type: ignore[attr-defined]
    run.epilog = "\b\nExamples:\n" + "\n".join(f"  {line}" for line in examples)  # type: ignore[attr-defined]
    return run


def _options(parameter: Parameter) -> list[Parameter]:
    """List the options of a parameter: those of its dataclass, or itself."""
    if not is_dataclass(parameter.annotation):
        return [parameter.replace(kind=Parameter.KEYWORD_ONLY)]
    return [
        Parameter(
            one.name,
            Parameter.KEYWORD_ONLY,
            annotation=one.type,
            # dataclasses and inspect have their own marks for no default.
            default=Parameter.empty if one.default is MISSING else one.default,
        )
        for one in fields(parameter.annotation)
        if hasattr(one.type, "__metadata__")
    ]


def _gathered(parameter: Parameter, group: list[Parameter], values: Any) -> Any:
    """Return the value of a parameter: its dataclass, or the value of the option."""
    if not is_dataclass(parameter.annotation):
        return values[parameter.name]
    kind: Any = parameter.annotation
    return kind(**{one.name: values[one.name] for one in group})


def _called(parameter: Any) -> str:
    if parameter.param_type_name == "option":
        return str(parameter.opts[0])
    return str(parameter.metavar or parameter.name).strip("[]")


def _farewell(files: Marked, words: list[str]) -> str:
    for mark, _, path in files:
        if isinstance(mark, Output) and mark.continues and path and path.is_file():
            line = shlex.join(["groundmetric", *words])
            return f"interrupted; {path} has the work so far. To resume: {line}"
    return "interrupted"
