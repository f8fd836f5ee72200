"""How a rollout goes on: pure arithmetic over a Deployment and its ReplicaSets.

The rules are those of kube-controller-manager's deployment controller (pkg/controller/deployment): never more than
``replicas + maxSurge`` pods, never fewer available ones than ``replicas - maxUnavailable``, old sets shrink oldest
first and lose pods that are not available before those that are; a Deployment that is scaled in the middle of a
rollout keeps the proportions of its sets.
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
    """A set, and the size it shall have."""

    replica_set: ReplicaSet
    size: int


@dataclass(slots=True)
class Rollout:
    """One look at a Deployment and its sets."""

    deployment: Deployment
    #: The set that has the Deployment's template, or None while it does not exist.
    new: ReplicaSet | None
    #: The others, oldest first.
    old: list[ReplicaSet]

    @property
    def every(self) -> list[ReplicaSet]:
        """All sets, the new one last."""
        return [*self.old, *([self.new] if self.new is not None else [])]

    @property
    def active(self) -> list[ReplicaSet]:
        """The sets that want pods."""
        return [found for found in self.every if desired_replicas(found) > 0]

    @property
    def replicas(self) -> int:
        """How many pods the Deployment wants."""
        return 1 if self.deployment.spec.replicas is None else self.deployment.spec.replicas

    @property
    def is_rolling(self) -> bool:
        """Whether old and new pods may live side by side."""
        return self.deployment.spec.strategy.type != "Recreate"

    @property
    def surge(self) -> int:
        """How many pods there may be beyond `replicas`."""
        return self._limits()[0] if self.is_rolling else 0

    @property
    def unavailable(self) -> int:
        """How many of `replicas` may be missing."""
        return min(self._limits()[1], self.replicas) if self.is_rolling else 0

    def _limits(self) -> tuple[int, int]:
        rolling = self.deployment.spec.strategy.rolling_update
        surge = "25%" if rolling is None or rolling.max_surge is None else rolling.max_surge
        missing = "25%" if rolling is None or rolling.max_unavailable is None else rolling.max_unavailable
        limits = scaled_value(surge, self.replicas, up=True), scaled_value(missing, self.replicas, up=False)
        return limits if any(limits) else (0, 1)  # with both at nothing no pod could ever be replaced

    @property
    def is_scaling(self) -> bool:
        """Whether the Deployment's size has changed since its sets were given theirs."""
        told = (found.metadata.annotations.get(DESIRED_REPLICAS) for found in self.active)
        return any(text is not None and text != str(self.replicas) for text in told)

    # --- a size that changes ---

    def resize(self) -> list[ScaleStep]:
        """Return the sizes that follow from the Deployment's: no pods move from one set to another."""
        active = self.active
        if len(active) <= 1:
            return self._scale_single(active)
        if self.new is not None and self._is_saturated(self.new):
            return [ScaleStep(found, 0) for found in self.old if desired_replicas(found) > 0]
        return self._scale_proportionally(active) if self.is_rolling else []

    def _scale_single(self, active: Sequence[ReplicaSet]) -> list[ScaleStep]:
        one = active[0] if active else self.new or (self.old[-1] if self.old else None)
        return [] if one is None or desired_replicas(one) == self.replicas else [ScaleStep(one, self.replicas)]

    def _is_saturated(self, new: ReplicaSet) -> bool:
        """Say whether the new set has all that is wanted, told and available."""
        told = new.metadata.annotations.get(DESIRED_REPLICAS)
        return (
            told == str(self.replicas)
            and desired_replicas(new) == (new.status.available_replicas or 0) == self.replicas
        )

    def _scale_proportionally(self, active: Sequence[ReplicaSet]) -> list[ScaleStep]:
        """Spread what is added or taken over the sets by their sizes; the biggest takes what rounding leaves."""
        allowed = self.replicas + self.surge if self.replicas else 0
        change = allowed - sum(map(desired_replicas, active))
        by_age = sorted(active, key=_age, reverse=change > 0)  # of two that are as big, first the newer when growing
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
        """Return what one set takes of a change of which so much is left."""
        if not left:
            return 0
        size = desired_replicas(found)
        if not self.replicas:
            fraction = -size
        else:
            before = _number(found.metadata.annotations.get(MAX_REPLICAS)) or self.deployment.status.replicas or 0
            if not before:
                return 0
            fraction = math.floor(size * (self.replicas + self.surge) / before + 0.5) - size
        return min(fraction, left) if left > 0 else max(fraction, left)

    # --- a template that changes ---

    def new_replica_set_size(self) -> int:
        """Return the size that a set of the new template starts with."""
        if not self.is_rolling:
            return self.replicas
        room = self.replicas + self.surge - sum(map(desired_replicas, self.old))
        return max(0, min(room, self.replicas))

    def step(self) -> list[ScaleStep]:
        """Return the sizes that shall change now; none when there is nothing to do but wait."""
        if not self.is_rolling:
            return self.scale_down_old_for_recreate() or self._resize_new(self.replicas)
        return self._grow() or list(self._shrink())

    def scale_down_old_for_recreate(self) -> list[ScaleStep]:
        """Return the sets that must be empty before anything new begins."""
        return [ScaleStep(found, 0) for found in self.old if desired_replicas(found) > 0]

    def _resize_new(self, size: int) -> list[ScaleStep]:
        return [ScaleStep(self.new, size)] if self.new is not None and desired_replicas(self.new) != size else []

    def _grow(self) -> list[ScaleStep]:
        if self.new is None:
            return []
        size = desired_replicas(self.new)
        room = self.replicas + self.surge - sum(map(desired_replicas, self.every))
        return self._resize_new(min(self.replicas, size + max(0, room)))

    def _shrink(self) -> Iterator[ScaleStep]:
        """Take pods from old sets: first those that are not available, then as many as may be missing."""
        needed = self.replicas - self.unavailable
        not_yet = desired_replicas(self.new) - _available(self.new) if self.new is not None else 0
        may_go = sum(map(desired_replicas, self.every)) - needed - not_yet
        if may_go <= 0:
            return
        sizes = [desired_replicas(found) for found in self.old]
        for i, found in enumerate(self.old):
            taken = min(may_go, max(0, sizes[i] - _available(found)))
            if taken:
                may_go, sizes[i] = may_go - taken, sizes[i] - taken
                yield ScaleStep(found, sizes[i])
        spare = sum(map(_available, self.every)) - needed
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
