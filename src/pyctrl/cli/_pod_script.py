"""The flag `--pod-script`: a Python function that says what the containers of simulated nodes do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from cyclopts import Parameter

from pyctrl.errors import CommandFailed

if TYPE_CHECKING:
    from pyctrl.cluster import ScriptFunction

__all__ = ["PodScript", "load_pod_script"]

PodScript: TypeAlias = Annotated[str | None, Parameter(metavar="MODULE:FUNCTION")]


def load_pod_script(text: str | None) -> ScriptFunction | None:
    """Import the function of ``MODULE:FUNCTION`` or ``FILE.py:FUNCTION``; return None without one.

    It takes a pod and a container, and returns a `Script`.

    Raises:
        CommandFailed: The module or the function does not exist.
    """
    if text is None:
        return None
    from pyctrl.program import ProgramModule  # here: most commands import no program

    place, colon, name = text.rpartition(":")
    if not colon or not place or not name:
        raise CommandFailed(f"--pod-script {text}: expected MODULE:FUNCTION or FILE.py:FUNCTION")
    found: Any = getattr(ProgramModule.parse(place).load(), name, None)
    if not callable(found):
        raise CommandFailed(f"--pod-script {text}: {place} has no function {name!r}")
    function: ScriptFunction = found
    return function
