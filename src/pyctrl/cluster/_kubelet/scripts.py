"""What shall happen to a pod on a pretend node: scripts, from Python or from the pod's own annotations."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from pyctrl.kinds.core.v1 import Container, Pod

__all__ = ["PREFIX", "PodScript", "Script", "ScriptFunction", "script_of"]

PREFIX = "pyctrl.dev/"

# Possessive: a pod's command may be long, and failing must not cost the cube of its spaces.
_EXIT = re.compile(
    r"\s*+(?:sleep\s++(?P<seconds>\d++(?:\.\d++)?)\s*+(?:;|&&)?)?\s*+(?:exit\s++(?P<code>\d{1,9}+))?\s*+"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """What a container on a pretend node does. What is None happens as the `Kubelet` does it by default.

    Each field is also an annotation of the pod, with dashes: ``pyctrl.dev/exit-code: "1"`` for all of its containers,
    ``pyctrl.dev/exit-code.main: "1"`` for the one called main. Annotations win, and may be changed at any time.
    """

    #: Why its image cannot be pulled: ErrImagePull and ImagePullBackOff with this message, for as long as it is said.
    pull_error: str | None = None
    #: How long the image takes.
    pull_seconds: float | None = None
    #: How long it takes to be ready once it runs; ``math.inf`` (in an annotation ``never``) for never.
    ready_seconds: float | None = None
    #: How long it stays ready, once it is.
    unready_after_seconds: float | None = None
    #: How long it runs before it ends; ``math.inf`` (in an annotation ``forever``) for until it is stopped.
    run_seconds: float | None = None
    #: How its runs end, one after the other (in an annotation ``1,1,0``); the last one repeats.
    exit_code: int | Sequence[int] | None = None
    #: Why it ended, such as ``OOMKilled``; by default Completed or Error. With it the code is 137 if none is given.
    termination_reason: str | None = None
    #: What it leaves in its termination message.
    termination_message: str | None = None
    #: How long it takes to stop when it is asked to; longer than the grace period means that it is killed.
    stop_seconds: float | None = None
    #: When the node evicts the pod, counted from its start; said of the pod as a whole.
    evict_after_seconds: float | None = None

    @property
    def exit_codes(self) -> tuple[int, ...]:
        """How runs end, one by one."""
        if self.exit_code is None:
            return (137,) if self.termination_reason not in (None, "Completed") else (0,)
        return (self.exit_code,) if isinstance(self.exit_code, int) else tuple(self.exit_code) or (0,)

    def over(self, other: Script) -> Script:
        """Return the other script with what this one says in its place."""
        said = {each.name: value for each in fields(self) if (value := getattr(self, each.name)) is not None}
        return replace(other, **said)


#: What a test may give a `Kubelet`: says what a container of a pod shall do, or None for what containers do.
ScriptFunction = Callable[[Pod, Container], "Script | None"]


@dataclass(frozen=True, slots=True)
class PodScript:
    """The scripts of a pod's containers by name, and what is wrong with its annotations."""

    containers: Mapping[str, Script]
    problems: tuple[str, ...] = ()

    @property
    def evict_after_seconds(self) -> float | None:
        """When the pod is evicted; None for never."""
        said = [each.evict_after_seconds for each in self.containers.values() if each.evict_after_seconds is not None]
        return min(said, default=None)


def script_of(pod: Pod, default: Callable[[Container], Script], scripted: ScriptFunction | None) -> PodScript:
    """Return what a pod shall do: its annotations over the function over its command over the default."""
    annotations = {k.removeprefix(PREFIX): v for k, v in pod.metadata.annotations.items() if k.startswith(PREFIX)}
    problems: list[str] = []
    scripts: dict[str, Script] = {}
    spec = pod.spec
    for container in (*spec.init_containers, *spec.containers):
        script = _of_command(container).over(default(container))
        if scripted is not None and (given := scripted(pod, container)) is not None:
            script = given.over(script)
        scripts[container.name] = _of_annotations(annotations, container.name, problems).over(script)
    return PodScript(scripts, tuple(dict.fromkeys(problems)))


def _of_command(container: Container) -> Script:
    """Understand the few commands that tests of failures use; whatever else is run stays up."""
    match [*container.command, *container.args]:
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
    said: dict[str, Any] = {}
    for each in fields(Script):
        name = each.name.replace("_", "-")
        for key in (f"{name}.{container}", name):
            if key in annotations:
                said.update(_parsed(each.name, key, annotations[key], problems))
                break
    return Script(**said)


def _parsed(field: str, key: str, text: str, problems: list[str]) -> dict[str, Any]:
    try:
        if field == "exit_code":
            return {field: tuple(int(code) for code in text.split(","))}
        if field.endswith("_seconds"):
            return {field: _seconds(text)}
    except ValueError:
        wanted = "whole numbers, such as 1 or 1,1,0" if field == "exit_code" else "a number of seconds"
        problems.append(f"annotation {PREFIX}{key} is ignored: expected {wanted}, got {text!r}")
        return {}
    return {field: text}


def _seconds(text: str) -> float:
    if text in ("never", "forever"):
        return math.inf
    seconds = float(text)
    if not seconds >= 0:  # NaN neither
        raise ValueError(text)
    return seconds
