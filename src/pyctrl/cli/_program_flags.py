"""Flags of a program itself: the keyword arguments of its setup function."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from cyclopts import CycloptsError, Group, Parameter

from pyctrl.cli._command_line import NEGATABLE, CommandLine

if TYPE_CHECKING:
    from pyctrl.program import SetupFunction

__all__ = ["bind_program_flags", "program_flags_binder", "program_parameters"]

PROGRAM_FLAGS = Group("Program flags", sort_key=0)


def program_parameters(setup: SetupFunction) -> list[inspect.Parameter]:
    """Return the keyword arguments with a default, as parameters of cyclopts: each is a flag."""
    try:
        hints = typing.get_type_hints(setup)
    except Exception:  # noqa: BLE001 - annotations may name types that exist for type checkers only
        hints = {}
    return [
        each.replace(annotation=_flag(hints.get(each.name, type(each.default))))
        for each in inspect.signature(setup).parameters.values()
        if each.kind is each.KEYWORD_ONLY and each.default is not each.empty
    ]


def _flag(annotation: Any) -> Any:
    return typing.Annotated[annotation, Parameter(group=PROGRAM_FLAGS, negative_bool=NEGATABLE)]


def program_flags_binder(
    tokens: Sequence[str], *, command: Sequence[str]
) -> Callable[[SetupFunction, str], SetupFunction | None] | None:
    """Return `bind_program_flags` for the flags after ``--``; None if there are none."""
    return partial(bind_program_flags, tokens=tokens, command=command) if tokens else None


def bind_program_flags(
    setup: SetupFunction, name: str, *, tokens: Sequence[str], command: Sequence[str]
) -> SetupFunction | None:
    """Parse the flags after ``--`` and bind them to the setup function. Returns None if only help was requested.

    Args:
        setup: the setup function.
        name: the name of the program, for its help.
        tokens: the flags.
        command: the words before ``--help`` in messages.

    Raises:
        CycloptsError: the function has no such argument, or the value does not have its type.
    """
    found: list[SetupFunction] = []

    def take(**values: Any) -> None:
        found.append(partial(setup, **values))

    parameters = program_parameters(setup)
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
