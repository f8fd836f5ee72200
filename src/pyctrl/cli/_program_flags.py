"""The flags of a program's own: the keyword arguments of the function that wires it."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from cyclopts import CycloptsError, Group, Parameter

from pyctrl.cli._command_line import NEGATABLE, CommandLine

if TYPE_CHECKING:
    from pyctrl.program import SetupFunction

PROGRAM_FLAGS = Group("Program flags", sort_key=0)


def program_parameters(wire: SetupFunction) -> list[inspect.Parameter]:
    """Return the keyword arguments that have a default, as cyclopts takes them: each of them is a flag."""
    try:
        hints = typing.get_type_hints(wire)
    except Exception:  # noqa: BLE001 - annotations of anything may name what is only there for type checkers
        hints = {}
    return [
        each.replace(annotation=_flag(hints.get(each.name, type(each.default))))
        for each in inspect.signature(wire).parameters.values()
        if each.kind is each.KEYWORD_ONLY and each.default is not each.empty
    ]


def _flag(annotation: Any) -> Any:
    return typing.Annotated[annotation, Parameter(group=PROGRAM_FLAGS, negative_bool=NEGATABLE)]


def bind_program_flags(
    wire: SetupFunction, tokens: Sequence[str], *, name: str, command: Sequence[str]
) -> SetupFunction | None:
    """Read the flags after ``--`` and give them to the function; None: only help was asked for.

    Args:
        wire: the function.
        tokens: the flags.
        name: of the program, for its help.
        command: what to call before ``--help``, for messages.

    Raises:
        CycloptsError: the function has no such argument, or it is not of its type.
    """
    found: list[SetupFunction] = []

    def take(**values: Any) -> None:
        found.append(partial(wire, **values))

    parameters = program_parameters(wire)
    vars(take)["__signature__"] = inspect.Signature(parameters)
    take.__annotations__ = {each.name: each.annotation for each in parameters}
    app = CommandLine(name, help=f"Flags of {name} itself.", version_flags=[])
    app.default(take)
    try:
        app(list(tokens), exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        error.command_chain = command
        raise
    return found[0] if found else None
