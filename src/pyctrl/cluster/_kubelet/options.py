"""Options of the simulated kubelet."""

from __future__ import annotations

from dataclasses import dataclass, fields

from pyctrl.cluster._kubelet.scripts import ScriptFunction

__all__ = ["Kubelet"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kubelet:
    """Durations on simulated nodes, in seconds of the event loop's time, and scripted failures.

    By default everything is immediate, for fast tests. Annotations of pods and nodes (see `Script`) and ``script``
    change the behaviour.

    Args:
        start_seconds: from a pod's creation until it is bound to a node.
        pull_seconds: the duration of image pulls.
        ready_seconds: from a container's start until it is ready.
        stop_seconds: the time that containers take to stop. Beyond the pod's grace period they are killed.
        job_seconds: how long the containers of Jobs run before they exit with 0. Other containers run until stopped.
        script: ``script(pod, container)`` returns the `Script` of a container, or None for the defaults.

    Raises:
        ValueError: a time is negative.
    """

    start_seconds: float = 0.0
    pull_seconds: float = 0.0
    ready_seconds: float = 0.0
    stop_seconds: float = 0.0
    job_seconds: float = 0.1
    script: ScriptFunction | None = None

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name.endswith("_seconds") and not value >= 0:
                raise ValueError(f"{each.name} must be a number of seconds, at least 0; got {value!r}")
