"""Scripts of containers on simulated nodes, from Python or from the annotations of a pod."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from pyctrl._pipes import Pipe
from pyctrl.apiserver import TerminalSizeQueue
from pyctrl.kinds.core.v1 import Container, EphemeralContainer, Pod

__all__ = [
    "PREFIX",
    "ContainerOutput",
    "ExecFunction",
    "ExecProcess",
    "LogFunction",
    "OutputStream",
    "PodScript",
    "PortFunction",
    "Script",
    "ScriptFunction",
    "as_container",
    "script_of",
]

PREFIX = "pyctrl.dev/"
_WITHOUT_ANNOTATION = frozenset(("exec", "attach", "ports", "files"))

# Possessive quantifiers: a mismatch of a long command must not take cubic time.
_EXIT = re.compile(
    r"\s*+(?:sleep\s++(?P<seconds>\d++(?:\.\d++)?)\s*+(?:;|&&)?)?\s*+(?:exit\s++(?P<code>\d{1,9}+))?\s*+"
)
_EXPECTED = {"exit_code": "whole numbers, such as 1 or 1,1,0", "probes": "true or false"}  # else seconds

#: The image of pod sandboxes, whose process waits for a signal.
_PAUSE_IMAGE = re.compile(r"(?:.*/)?pause(?:[:@].*+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecProcess:
    """A command that a client runs in a container, or the process to which it attaches.

    Write with ``await process.stdout.write(b"...")``. ``stdin`` is at its end if the client sends none. With ``tty``
    the client has a terminal, whose size and its changes are in ``sizes``.
    """

    pod: Pod
    container: Container
    command: list[str]
    stdin: Pipe
    stdout: Pipe
    stderr: Pipe
    tty: bool = False
    sizes: TerminalSizeQueue = field(default_factory=TerminalSizeQueue)


#: Runs a command and returns its exit code; None is 0. It is cancelled when the client disconnects, but has 5 seconds
#: to use what the client sent to its stdin before.
ExecFunction: TypeAlias = Callable[[ExecProcess], Awaitable[int | None]]

#: Serves a connection to a port, as a function for `asyncio.start_server` does.
PortFunction: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class OutputStream(Protocol):
    """A stream to which a container prints, also by ``print("ready", file=stream)``."""

    def write(self, text: str | bytes, /) -> None:
        """Write text. A line is in the log when its end is written."""
        ...

    def flush(self) -> None:
        """Do nothing: there is no buffer but that of an incomplete line."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerOutput:
    """The output of one run of a container, which is its log."""

    pod: Pod
    container: Container
    stdout: OutputStream
    stderr: OutputStream
    restart_count: int = 0


#: Writes the log of a container. It is called at each start of the container, and cancelled when the container ends.
LogFunction = Callable[[ContainerOutput], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """The behaviour of a container on a simulated node. Fields that are None use the defaults of the `Kubelet`.

    Each field but functions and ``files`` is also an annotation of the pod, with dashes: ``pyctrl.dev/exit-code: "1"``
    for all of its containers, ``pyctrl.dev/exit-code.main: "1"`` for the one named main. Annotations take precedence
    and may change at any time.
    """

    #: The error of image pulls: ErrImagePull and ImagePullBackOff with this message while it is set.
    pull_error: str | None = None
    #: The duration of the image pull.
    pull_seconds: float | None = None
    #: The time from start to readiness; ``math.inf`` (in an annotation ``never``) for never.
    ready_seconds: float | None = None
    #: The time from readiness to unreadiness.
    unready_after_seconds: float | None = None
    #: The duration of a run; ``math.inf`` (in an annotation ``forever``) for a run until it is stopped.
    run_seconds: float | None = None
    #: The exit codes of successive runs (in an annotation ``1,1,0``); the last one repeats.
    exit_code: int | Sequence[int] | None = None
    #: The reason of the termination, such as ``OOMKilled``; by default Completed or Error. Sets the exit code 137.
    termination_reason: str | None = None
    #: The termination message.
    termination_message: str | None = None
    #: The time to stop; a container that exceeds its grace period is killed.
    stop_seconds: float | None = None
    #: The duration of a resize in place (`pods/resize`), while the pod has the condition PodResizeInProgress.
    resize_seconds: float | None = None
    #: The error of a resize in place, which stays in progress with this message.
    resize_error: str | None = None
    #: The time from the start of the pod until the node evicts it; applies to the pod as a whole.
    evict_after_seconds: float | None = None
    #: Whether the kubelet runs the probes of the container: commands by ``exec``, the others at ``ports``. Otherwise
    #: they succeed. In an annotation ``true`` or ``false``; it counts from the next start of the container.
    probes: bool | None = None
    #: The log: a text that each run prints at its start, or a function that writes to it while the container runs.
    logs: str | LogFunction | None = field(default=None, compare=False)
    #: Runs the commands of `kubectl exec` in the container; has no annotation.
    exec: ExecFunction | None = field(default=None, compare=False)
    #: Plays the process of the container for each client of `kubectl attach`, until the client leaves or it returns.
    #: By default the process is silent.
    attach: ExecFunction | None = field(default=None, compare=False)
    #: The ports at which the container listens: functions that serve connections, or addresses of this machine, such as
    #: ``{5432: "localhost:15432"}``.
    ports: Mapping[int, PortFunction | str] | None = field(default=None, compare=False)
    #: A directory of this machine that is the file system of the container, for `kubectl cp`.
    files: Path | None = field(default=None, compare=False)

    @property
    def exit_codes(self) -> tuple[int, ...]:
        """The exit codes of successive runs."""
        if self.exit_code is None:
            return (137,) if self.termination_reason not in (None, "Completed") else (0,)
        return (self.exit_code,) if isinstance(self.exit_code, int) else tuple(self.exit_code) or (0,)

    def over(self, other: Script) -> Script:
        """Return the other script with the set fields of this one."""
        values = {each.name: value for each in fields(self) if (value := getattr(self, each.name)) is not None}
        return replace(other, **values)


#: The `script` of a `Kubelet`: returns the script of a container, or None for the defaults.
ScriptFunction = Callable[[Pod, Container], "Script | None"]


@dataclass(frozen=True, slots=True)
class PodScript:
    """The scripts of a pod's containers by name, and the errors in its annotations."""

    containers: Mapping[str, Script]
    problems: tuple[str, ...] = ()

    @property
    def evict_after_seconds(self) -> float | None:
        """The time until the pod is evicted, or None."""
        values = [each.evict_after_seconds for each in self.containers.values() if each.evict_after_seconds is not None]
        return min(values, default=None)


def script_of(pod: Pod, default: Callable[[Container], Script], scripted: ScriptFunction | None) -> PodScript:
    """Return the scripts of a pod. Annotations override the function, which overrides the command and the default."""
    annotations = {k.removeprefix(PREFIX): v for k, v in pod.metadata.annotations.items() if k.startswith(PREFIX)}
    problems: list[str] = []
    scripts: dict[str, Script] = {}
    spec = pod.spec
    ephemeral = [as_container(each) for each in spec.ephemeral_containers]
    for container in (*spec.init_containers, *spec.containers, *ephemeral):
        script = _of_command(container).over(default(container))
        if scripted is not None and (chosen := scripted(pod, container)) is not None:
            script = chosen.over(script)
        scripts[container.name] = _of_annotations(annotations, container.name, problems).over(script)
    return PodScript(scripts, tuple(dict.fromkeys(problems)))


def as_container(ephemeral: EphemeralContainer) -> Container:
    """Return an ephemeral container as one of the others, whose fields it has."""
    wire = ephemeral.to_wire()
    wire.pop("targetContainerName", None)
    return Container.from_wire(wire)


def _of_command(container: Container) -> Script:
    """Return the script of the few commands and images that tests use; others run as the kubelet's options say."""
    match [*container.command, *container.args]:
        case [] if _PAUSE_IMAGE.fullmatch(container.image or ""):
            return Script(run_seconds=math.inf)
        case ["pause"]:  # agnhost's
            return Script(run_seconds=math.inf)
        case [("true" | "/bin/true")]:
            return Script(run_seconds=0)
        case [("false" | "/bin/false")]:
            return Script(run_seconds=0, exit_code=1)
        case [("sleep" | "/bin/sleep"), seconds] if seconds.isdecimal():
            return Script(run_seconds=float(seconds))
        case [("sh" | "/bin/sh" | "bash" | "/bin/bash"), "-c", text] if (found := _EXIT.fullmatch(text)) and text:
            code = found["code"]
            return Script(run_seconds=float(found["seconds"] or 0), exit_code=None if code is None else int(code))
    return Script()


def _of_annotations(annotations: Mapping[str, str], container: str, problems: list[str]) -> Script:
    values: dict[str, Any] = {}
    for each in fields(Script):
        if each.name in _WITHOUT_ANNOTATION:
            continue
        name = each.name.replace("_", "-")
        for key in (f"{name}.{container}", name):
            if key in annotations:
                values.update(_parsed(each.name, key, annotations[key], problems))
                break
    return Script(**values)


def _parsed(field: str, key: str, text: str, problems: list[str]) -> dict[str, Any]:
    try:
        if field == "exit_code":
            return {field: tuple(int(code) for code in text.split(","))}
        if field.endswith("_seconds"):
            return {field: _seconds(text)}
        if field == "probes":
            return {field: ("false", "true").index(text) == 1}
    except ValueError:
        expected = _EXPECTED.get(field, "a number of seconds")
        problems.append(f"annotation {PREFIX}{key} is ignored: expected {expected}, got {text!r}")
        return {}
    return {field: text}


def _seconds(text: str) -> float:
    if text in ("never", "forever"):
        return math.inf
    seconds = float(text)
    if not seconds >= 0:  # also refuses NaN
        raise ValueError(text)
    return seconds
