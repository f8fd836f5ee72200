"""Results of the probes of a container. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from pyctrl.kinds.core.v1 import Container, Probe

__all__ = ["ProbeKind", "ProbeResults"]

DEFAULT_FAILURES, DEFAULT_SUCCESSES = 3, 1  # the thresholds of a probe that has none


class ProbeKind(Enum):
    """A probe of a container, as Events name it."""

    STARTUP = "Startup"
    LIVENESS = "Liveness"
    READINESS = "Readiness"


class ProbeResults:
    """What the probes of one run of a container have found.

    The rules are the kubelet's: a result counts once it came as often in a row as its threshold demands. Until then
    the container has not started, is alive and is not ready.
    """

    def __init__(self, spec: Container) -> None:
        found = {
            ProbeKind.STARTUP: spec.startup_probe,
            ProbeKind.LIVENESS: spec.liveness_probe,
            ProbeKind.READINESS: spec.readiness_probe,
        }
        #: The probes of the container.
        self.probes: Mapping[ProbeKind, Probe] = {kind: probe for kind, probe in found.items() if probe is not None}
        self._results: dict[ProbeKind, bool] = {}
        self._streaks: dict[ProbeKind, tuple[bool, int]] = {}  # the last result, and how often it came in a row

    @property
    def is_started(self) -> bool:
        """Whether the container has started."""
        return ProbeKind.STARTUP not in self.probes or self._results.get(ProbeKind.STARTUP, False)

    @property
    def is_ready(self) -> bool:
        """Whether the container is ready."""
        is_unprobed = ProbeKind.READINESS not in self.probes
        return self.is_started and (is_unprobed or self._results.get(ProbeKind.READINESS, False))

    @property
    def failed(self) -> ProbeKind | None:
        """The probe for which the container has to be restarted, or None."""
        kinds = (ProbeKind.LIVENESS, ProbeKind.STARTUP)
        return next((kind for kind in kinds if self._results.get(kind) is False), None)

    def is_settled(self, kind: ProbeKind) -> bool:
        """Return whether a probe has ended for this run of the container."""
        return self.failed is not None or (kind is ProbeKind.STARTUP and kind in self._results)

    def record(self, kind: ProbeKind, *, succeeded: bool) -> None:
        """Record a result of a probe."""
        before, count = self._streaks.get(kind, (succeeded, 0))
        count = count + 1 if before == succeeded else 1
        self._streaks[kind] = succeeded, count
        probe = self.probes[kind]
        threshold = probe.success_threshold or DEFAULT_SUCCESSES
        if not succeeded:
            threshold = probe.failure_threshold or DEFAULT_FAILURES
        if count >= threshold:
            self._results[kind] = succeeded
