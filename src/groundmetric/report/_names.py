"""Which distance of a report to use."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from ..experiments.choice import LEARNERS, choice, choice_over_splits
from ..experiments.names import in_a_sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Value = TypeVar("Value")


def that_do_not_learn(values: Mapping[str, Value]) -> dict[str, Value]:
    """Select the values of distances that do not learn."""
    learn = ("learned", "initial", *LEARNERS)
    return {name: value for name, value in values.items() if name not in learn}


def which_to_use(
    errors: Mapping[str, float], interval: Callable[[str, str], tuple[float, float]]
) -> str:
    """Say in one sentence which distance to use; nothing without other learners.

    The interval is that of what the first distance saves compared with the second.
    """
    names = _to_choose_from(errors)
    return choice({x: errors[x] for x in names}, interval, names) if names else ""


def which_over_splits(errors: Mapping[str, Sequence[float]], ratio: float) -> str:
    """Say the same, by errors on the same splits."""
    names = _to_choose_from(errors)
    used = {name: errors[name] for name in names}
    return choice_over_splits(used, ratio=ratio, names=names) if names else ""


def _to_choose_from(errors: Mapping[str, object]) -> dict[str, str]:
    if not set(errors).intersection(LEARNERS):
        return {}
    return {name: in_a_sentence(name) for name in errors if name != "initial"}
