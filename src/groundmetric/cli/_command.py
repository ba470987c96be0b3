"""Turn a function into a command: shared options, help, and checks of its files."""

import functools
import inspect
import re
import shlex
from collections.abc import Callable
from copy import copy
from dataclasses import MISSING, fields, is_dataclass
from inspect import Parameter
from typing import Annotated, Any

import typer
from typer.models import ParameterInfo

from ._console import note
from ._options import INPUT, NO_OPTION, Force, Output
from ._output import Marked, check_marked

Function = Callable[..., None]
SECTION = re.compile(r"\n(?:Parameters|Attributes)\n-+\n")
ENTRY = re.compile(r"^(\w+)\n((?:    .+(?:\n|$))+)", re.MULTILINE)


def command(*examples: str, without: tuple[str, ...] = ()) -> Callable[..., Function]:
    """Make a command, with examples in its help.

    The docstring is the help, and its parameters are the options. A parameter that is a
    dataclass of options becomes these options, except those named in ``without``.
    Files, which are the parameters marked as input or output, are checked before the
    command runs; --force and --no-clobber are added to a command that writes any.
    """
    return lambda function: _command(function, examples, without)


def _command(function: Function, examples: tuple[str, ...], without: Any) -> Function:
    given = inspect.signature(function)
    description, texts = _documented(function)
    groups = {
        name: [one for one in _options(parameter, texts) if one.name not in without]
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
    run.__doc__ = description
    run.epilog = "\b\nExamples:\n" + "\n".join(f"  {line}" for line in examples)  # type: ignore[attr-defined]
    return run


def given_options(context: typer.Context) -> list[str]:
    """List the parameters that were given, not left at their defaults."""
    return [
        name
        for name in context.params
        if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
    ]


def _documented(what: Any) -> tuple[str, dict[str, str]]:
    """Return the help in a docstring, and that of each of its parameters."""
    description, *rest = SECTION.split(inspect.getdoc(what) or "", maxsplit=1)
    entries = ENTRY.findall(rest[0]) if rest else []
    return description, {name: " ".join(text.split()) for name, text in entries}


def _options(parameter: Parameter, texts: dict[str, str]) -> list[Parameter]:
    """List the options of a parameter, with help: those of its dataclass, or itself."""
    kind: Any = parameter.annotation
    if not is_dataclass(kind):
        return [_explained(parameter.replace(kind=Parameter.KEYWORD_ONLY), texts)]
    texts = _documented(kind)[1]
    return [
        _explained(
            Parameter(
                one.name,
                Parameter.KEYWORD_ONLY,
                annotation=one.type,
                # dataclasses and inspect have their own marks for no default.
                default=Parameter.empty if one.default is MISSING else one.default,
            ),
            texts,
        )
        for one in fields(kind)
        if NO_OPTION not in getattr(one.type, "__metadata__", ())
    ]


def _explained(parameter: Parameter, texts: dict[str, str]) -> Parameter:
    """Set the help of an option."""
    if parameter.name not in texts:
        return parameter
    kind = parameter.annotation
    plain, marks = getattr(kind, "__origin__", kind), getattr(kind, "__metadata__", ())
    if not marks:
        plain = kind  # a list has an origin, too
    infos = [copy(one) for one in marks if isinstance(one, ParameterInfo)]
    info = infos[0] if infos else typer.Option()
    info.help = texts[parameter.name]
    others = [one for one in marks if not isinstance(one, ParameterInfo)]
    return parameter.replace(annotation=Annotated[(plain, info, *others)])


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
