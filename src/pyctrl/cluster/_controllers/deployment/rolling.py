"""Arithmetic of rollouts over a Deployment and its ReplicaSets, as pure functions.

The rules are those of kube-controller-manager's deployment controller (pkg/controller/deployment). There are never more
than ``replicas + maxSurge`` pods and never fewer available ones than ``replicas - maxUnavailable``. Old ReplicaSets are
scaled down oldest first, unavailable pods first. A Deployment that is scaled during a rollout keeps the proportions of
its ReplicaSets.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pyctrl.cluster._controllers.int_or_percent import scaled_value
from pyctrl.cluster._controllers.replicaset import desired_replicas
from pyctrl.kinds.apps.v1 import Deployment, ReplicaSet

__all__ = ["DESIRED_REPLICAS", "MAX_REPLICAS", "Rollout", "ScaleStep"]

DESIRED_REPLICAS, MAX_REPLICAS = "deployment.kubernetes.io/desired-replicas", "deployment.kubernetes.io/max-replicas"


class ScaleStep(NamedTuple):
    """A ReplicaSet and its new number of replicas."""

    replica_set: ReplicaSet
    size: int


@dataclass(slots=True)
class Rollout:
    """A snapshot of a Deployment and its ReplicaSets."""

    deployment: Deployment
    #: The ReplicaSet with the Deployment's template, or None before it exists.
    new: ReplicaSet | None
    #: The other ReplicaSets, oldest first.
    old: list[ReplicaSet]

    @property
    def every(self) -> list[ReplicaSet]:
        """All ReplicaSets, the new one last."""
        return [*self.old, *([self.new] if self.new is not None else [])]

    @property
    def active(self) -> list[ReplicaSet]:
        """The ReplicaSets with desired replicas."""
        return [found for found in self.every if desired_replicas(found) > 0]

    @property
    def replicas(self) -> int:
        """The number of pods that the Deployment wants."""
        return 1 if self.deployment.spec.replicas is None else self.deployment.spec.replicas

    @property
    def is_rolling(self) -> bool:
        """True if old and new pods may run at the same time."""
        return self.deployment.spec.strategy.type != "Recreate"

    @property
    def max_surge(self) -> int:
        """The number of pods allowed beyond `replicas`."""
        return self._limits()[0] if self.is_rolling else 0

    @property
    def max_unavailable(self) -> int:
        """The number of pods of `replicas` that may be unavailable."""
        return min(self._limits()[1], self.replicas) if self.is_rolling else 0

    def _limits(self) -> tuple[int, int]:
        rolling = self.deployment.spec.strategy.rolling_update
        surge = "25%" if rolling is None or rolling.max_surge is None else rolling.max_surge
        unavailable = "25%" if rolling is None or rolling.max_unavailable is None else rolling.max_unavailable
        limits = scaled_value(surge, self.replicas, up=True), scaled_value(unavailable, self.replicas, up=False)
        return limits if any(limits) else (0, 1)  # with both at 0 no pod could be replaced

    @property
    def is_scaling(self) -> bool:
        """True if `replicas` has changed since the ReplicaSets were scaled last."""
        recorded = (found.metadata.annotations.get(DESIRED_REPLICAS) for found in self.active)
        return any(text is not None and text != str(self.replicas) for text in recorded)

    # --- a changed number of replicas ---

    def scale_steps(self) -> list[ScaleStep]:
        """Return the sizes for a changed number of replicas, without progress from old to new ReplicaSets."""
        active = self.active
        if len(active) <= 1:
            return self._scale_single(active)
        if self.new is not None and self._is_saturated(self.new):
            return [ScaleStep(found, 0) for found in self.old if desired_replicas(found) > 0]
        return self._scale_proportionally(active) if self.is_rolling else []

    def _scale_single(self, active: Sequence[ReplicaSet]) -> list[ScaleStep]:
        only = active[0] if active else self.new or (self.old[-1] if self.old else None)
        return [] if only is None or desired_replicas(only) == self.replicas else [ScaleStep(only, self.replicas)]

    def _is_saturated(self, new: ReplicaSet) -> bool:
        """Return whether the new ReplicaSet has all replicas, recorded and available."""
        recorded = new.metadata.annotations.get(DESIRED_REPLICAS)
        return (
            recorded == str(self.replicas)
            and desired_replicas(new) == (new.status.available_replicas or 0) == self.replicas
        )

    def _scale_proportionally(self, active: Sequence[ReplicaSet]) -> list[ScaleStep]:
        """Distribute a change over the ReplicaSets in proportion to their sizes; the largest gets the rounding rest."""
        allowed = self.replicas + self.max_surge if self.replicas else 0
        change = allowed - sum(map(desired_replicas, active))
        by_age = sorted(active, key=_age, reverse=change > 0)  # of equal sizes, the newer first when scaling up
        ordered = sorted(by_age, key=desired_replicas, reverse=True)
        sizes, done = [], 0
        for found in ordered:
            part = self._part(found, change - done) if change else 0
            done += part
            sizes.append(desired_replicas(found) + part)
        if sizes:
            sizes[0] = max(0, sizes[0] + change - done)
        return [ScaleStep(found, size) for found, size in zip(ordered, sizes, strict=True)]

    def _part(self, found: ReplicaSet, left: int) -> int:
        """Return the share of one ReplicaSet in a change, at most what is left of it."""
        if not left:
            return 0
        size = desired_replicas(found)
        if not self.replicas:
            fraction = -size
        else:
            before = _number(found.metadata.annotations.get(MAX_REPLICAS)) or self.deployment.status.replicas or 0
            if not before:
                return 0
            fraction = math.floor(size * (self.replicas + self.max_surge) / before + 0.5) - size
        return min(fraction, left) if left > 0 else max(fraction, left)

    # --- a changed template ---

    def new_replica_set_size(self) -> int:
        """Return the initial size of the ReplicaSet of a new template."""
        if not self.is_rolling:
            return self.replicas
        allowed = self.replicas + self.max_surge - sum(map(desired_replicas, self.old))
        return max(0, min(allowed, self.replicas))

    def rollout_steps(self) -> list[ScaleStep]:
        """Return the scale steps to take now; none if the rollout is complete or waits for pods."""
        if not self.is_rolling:
            return self.scale_down_old_for_recreate() or self._scale_new(self.replicas)
        return self._scale_up_new() or list(self._scale_down_old())

    def scale_down_old_for_recreate(self) -> list[ScaleStep]:
        """Return the old ReplicaSets to scale to 0 before new pods are created."""
        return [ScaleStep(found, 0) for found in self.old if desired_replicas(found) > 0]

    def _scale_new(self, size: int) -> list[ScaleStep]:
        return [ScaleStep(self.new, size)] if self.new is not None and desired_replicas(self.new) != size else []

    def _scale_up_new(self) -> list[ScaleStep]:
        if self.new is None:
            return []
        size = desired_replicas(self.new)
        allowed = self.replicas + self.max_surge - sum(map(desired_replicas, self.every))
        return self._scale_new(min(self.replicas, size + max(0, allowed)))

    def _scale_down_old(self) -> Iterator[ScaleStep]:
        """Scale down old ReplicaSets: unavailable pods first, then available ones up to maxUnavailable."""
        min_available = self.replicas - self.max_unavailable
        new_unavailable = desired_replicas(self.new) - _available(self.new) if self.new is not None else 0
        max_scaled_down = sum(map(desired_replicas, self.every)) - min_available - new_unavailable
        if max_scaled_down <= 0:
            return
        sizes = [desired_replicas(found) for found in self.old]
        for i, found in enumerate(self.old):
            taken = min(max_scaled_down, max(0, sizes[i] - _available(found)))
            if taken:
                max_scaled_down, sizes[i] = max_scaled_down - taken, sizes[i] - taken
                yield ScaleStep(found, sizes[i])
        spare = sum(map(_available, self.every)) - min_available
        for i, found in enumerate(self.old):
            taken = max(0, min(sizes[i], spare))
            if taken:
                spare, sizes[i] = spare - taken, sizes[i] - taken
                yield ScaleStep(found, sizes[i])


def _available(replica_set: ReplicaSet) -> int:
    return replica_set.status.available_replicas or 0


def _age(replica_set: ReplicaSet) -> tuple[float, str]:
    created = replica_set.metadata.creation_timestamp
    return created.timestamp() if created else 0.0, replica_set.metadata.name


def _number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() else 0
