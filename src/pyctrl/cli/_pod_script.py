"""The flag `--pod-script`: a Python function that says what the containers of simulated nodes do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from cyclopts import Parameter

from pyctrl.errors import CommandFailed

if TYPE_CHECKING:
    from pyctrl.cluster import ScriptFunction

__all__ = ["PodScript", "absolute_pod_script", "load_pod_script"]

PodScript: TypeAlias = Annotated[str | None, Parameter(metavar="MODULE:FUNCTION")]


def load_pod_script(text: str | None) -> ScriptFunction | None:
    """Import the function of ``MODULE:FUNCTION`` or ``FILE.py:FUNCTION``; return None without one.

    It takes a pod and a container, and returns a `Script`.

    Raises:
        CommandFailed: The module or the function does not exist.
    """
    if text is None:
        return None
    return _load(text)[1]


def absolute_pod_script(text: str | None) -> str:
    """Return ``FILE.py:FUNCTION`` with the absolute path, for a process in another directory; "" without a script.

    Raises:
        CommandFailed: The module or the function does not exist.
    """
    if text is None:
        return ""
    file, _ = _load(text)
    return f"{file}:{text.rpartition(':')[2]}"


def _load(text: str) -> tuple[Path, ScriptFunction]:
    """Return the file of the module, and the function."""
    from pyctrl.program import ProgramModule  # here: most commands import no program

    place, colon, name = text.rpartition(":")
    if not colon or not place or not name:
        raise CommandFailed(f"--pod-script {text}: expected MODULE:FUNCTION or FILE.py:FUNCTION")
    module = ProgramModule.parse(place).load()
    function: Any = getattr(module, name, None)
    if not callable(function):
        raise CommandFailed(f"--pod-script {text}: {place} has no function {name!r}")
    return Path(str(module.__file__)).resolve(), function
