"""How a pretend kubelet goes about its work."""

from __future__ import annotations

from dataclasses import dataclass, fields

from pyctrl.cluster._kubelet.scripts import ScriptFunction

__all__ = ["Kubelet"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kubelet:
    """How long things take on pretend nodes, in seconds of the loop, and what goes wrong there.

    By default nothing takes any time, which is what tests want. Annotations of pods and nodes (see `Script`) and
    ``script`` say what else shall happen.

    Args:
        start_seconds: from a pod's creation until it is bound to a node; before that nothing is done to it.
        pull_seconds: what images take.
        ready_seconds: from a container's start until it is ready.
        stop_seconds: what containers take to stop; longer than the pod's grace period means that they are killed.
        job_seconds: what the containers of a Job's pods run until they end with 0; others run until they are stopped.
        script: says what a container of a pod shall do: ``script(pod, container)`` gives a `Script`, or None.

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
                raise ValueError(f"{each.name} is a number of seconds, not less than 0; got {value!r}")
