"""How a rollout goes on: pure arithmetic over a Deployment and its ReplicaSets.

The rules are those of kube-controller-manager's deployment controller (pkg/controller/deployment/util): never more
than ``replicas + maxSurge`` pods, never fewer available ones than ``replicas - maxUnavailable``, old sets shrink
oldest first and lose pods that are not available before those that are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from pyctrl.kinds.apps.v1 import Deployment, ReplicaSet
from pyctrl.kinds.core.v1 import PodTemplateSpec

__all__ = ["HASH_LABEL", "REVISION", "Rollout", "desired_of", "same_template", "template_hash"]

HASH_LABEL = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"  # no vowels, no 0 1 3: never a word (apimachinery pkg/util/rand)


def template_hash(template: PodTemplateSpec, collisions: int) -> str:
    """Return a short name for a pod template: the same for equal templates, another one for another count."""
    value = 2166136261  # FNV-1a, 32 bits
    for byte in msgspec.json.encode([_plain(template), collisions], order="sorted"):
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return "".join(_ALPHABET[int(digit) % len(_ALPHABET)] for digit in str(value))


def same_template(a: PodTemplateSpec, b: PodTemplateSpec) -> bool:
    """Say whether two templates make the same pods; the hash label that ReplicaSets add does not count."""
    return _plain(a) == _plain(b)


def _plain(template: PodTemplateSpec) -> dict[str, Any]:
    wire = template.to_wire()
    metadata = {k: v for k, v in (wire.get("metadata") or {}).items() if k != "creationTimestamp" and v}
    labels: Mapping[str, str] = metadata.get("labels") or {}
    return {**wire, "metadata": {**metadata, "labels": {k: v for k, v in labels.items() if k != HASH_LABEL}}}


def desired_of(replica_set: ReplicaSet) -> int:
    """Return how many pods a set wants; one when it does not say."""
    return 1 if replica_set.spec.replicas is None else replica_set.spec.replicas


def _share(value: int | str | None, replicas: int, *, default: str, up: bool) -> int:
    """Resolve ``3`` or ``"25%"`` of a number of replicas."""
    text = default if value is None else value
    if isinstance(text, int):
        return text
    part = int(text.rstrip("%")) * replicas / 100
    return math.ceil(part) if up else math.floor(part)


@dataclass(slots=True)
class Rollout:
    """One look at a Deployment: what each of its sets should be scaled to now."""

    deployment: Deployment
    #: The set that has the Deployment's template, or None while it does not exist.
    new: ReplicaSet | None
    #: The others, oldest first.
    old: Sequence[ReplicaSet]
    #: Names of sets and the size they shall have; only those that change.
    sizes: dict[str, int] = field(default_factory=dict)

    @property
    def replicas(self) -> int:
        """How many pods the Deployment wants."""
        return 1 if self.deployment.spec.replicas is None else self.deployment.spec.replicas

    @property
    def is_rolling(self) -> bool:
        """Whether old and new pods may live side by side."""
        strategy = self.deployment.spec.strategy
        return strategy.type != "Recreate"

    @property
    def surge(self) -> int:
        """How many pods there may be beyond `replicas`."""
        return self._limits()[0]

    @property
    def unavailable(self) -> int:
        """How many of `replicas` may be missing."""
        return self._limits()[1]

    def _limits(self) -> tuple[int, int]:
        strategy = self.deployment.spec.strategy
        rolling = strategy.rolling_update
        surge = _share(rolling.max_surge if rolling else None, self.replicas, default="25%", up=True)
        missing = _share(rolling.max_unavailable if rolling else None, self.replicas, default="25%", up=False)
        return surge, (1 if surge == 0 and missing == 0 else missing)

    def first_size(self) -> int:
        """Return the size a new set starts with."""
        if not self.is_rolling:
            return 0 if any(desired_of(s) or s.status.replicas for s in self.old) else self.replicas
        room = self.replicas + self.surge - sum(map(desired_of, self.old))
        return max(0, min(room, self.replicas))

    def step(self) -> dict[str, int]:
        """Return the sizes that shall change now; empty when there is nothing to do but wait."""
        if self.deployment.spec.paused:
            return self._resize_the_one()
        if self.new is None:
            return self.sizes
        old = [s for s in self.old if desired_of(s) > 0]
        if not self.is_rolling:
            self._recreate(self.new, old)
        elif not old or desired_of(self.new) > self.replicas:
            self._resize(self.new, self.replicas)
        if self.is_rolling and old:
            self._grow(self.new)
            self._shrink(self.new, old)
        return self.sizes

    def _resize_the_one(self) -> dict[str, int]:
        """A paused rollout does not move pods from one set to another, but the Deployment can still be scaled."""
        every = [*self.old, *([self.new] if self.new else [])]
        active = [s for s in every if desired_of(s) > 0] or every[-1:]
        if len(active) == 1:
            self._resize(active[0], self.replicas)
        return self.sizes

    def _resize(self, replica_set: ReplicaSet, size: int) -> None:
        if desired_of(replica_set) != size:
            self.sizes[replica_set.metadata.name] = size

    def _size(self, replica_set: ReplicaSet) -> int:
        return self.sizes.get(replica_set.metadata.name, desired_of(replica_set))

    def _recreate(self, new: ReplicaSet, old: Iterable[ReplicaSet]) -> None:
        for replica_set in old:
            self._resize(replica_set, 0)
        if not self.sizes and not any(s.status.replicas for s in self.old):
            self._resize(new, self.replicas)

    def _grow(self, new: ReplicaSet) -> None:
        total = self._size(new) + sum(map(desired_of, self.old))
        room = self.replicas + self.surge - total
        self._resize(new, min(self.replicas, self._size(new) + max(0, room)))

    def _shrink(self, new: ReplicaSet, old: Sequence[ReplicaSet]) -> None:
        """Take pods from old sets: first those that are not available, then as many as may be missing."""
        total = desired_of(new) + sum(map(desired_of, old))
        not_yet = desired_of(new) - (new.status.available_replicas or 0)
        may_go = total - (self.replicas - self.unavailable) - max(0, not_yet)
        if may_go <= 0:
            return
        for replica_set in old:
            broken = max(0, desired_of(replica_set) - (replica_set.status.available_replicas or 0))
            taken = min(broken, may_go)
            may_go -= taken
            self._resize(replica_set, desired_of(replica_set) - taken)
        available = sum(s.status.available_replicas or 0 for s in (new, *old))
        spare = available - (self.replicas - self.unavailable)
        for replica_set in old:
            taken = max(0, min(self._size(replica_set), spare))
            spare -= taken
            self._resize(replica_set, self._size(replica_set) - taken)
