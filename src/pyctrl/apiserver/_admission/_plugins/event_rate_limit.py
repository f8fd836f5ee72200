"""Admission plugin EventRateLimit: limits how many Events are written, by the server's configuration."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from pyctrl import _clock
from pyctrl._go.text import aggregate_messages
from pyctrl.apiserver._admission.attributes import CREATE, UPDATE, Attributes
from pyctrl.apiserver._errors import StatusError, failure_status

__all__ = ["EventLimit", "EventRateLimit", "LimitType"]


LimitType: TypeAlias = Literal["Namespace", "Server", "SourceAndObject", "User"]
_CACHE_SIZE: Final = 4096  # the default number of keys of a limit whose rates are remembered, as upstream
_REFERENCE: Final = ("kind", "namespace", "name", "uid", "apiVersion")


@dataclass(frozen=True, slots=True, kw_only=True)
class EventLimit:
    """One limit: `burst` Events at once and `qps` each second, for each key of its type."""

    type: LimitType
    qps: int
    burst: int
    cache_size: int = 0


class EventRateLimit:
    """Plugin that rejects (429) Events over a limit."""

    def __init__(self, limits: Sequence[EventLimit]) -> None:
        self._enforcers = [_LimitEnforcer(limit) for limit in limits]

    def handles(self, group: str, resource: str) -> bool:
        """Return whether the resource is events of the core group; as upstream, the other group has no limits."""
        return (group, resource) == ("", "events")

    def mutate(self, attributes: Attributes) -> None:
        """Do nothing."""

    def validate(self, attributes: Attributes) -> None:
        """Count an Event at every limit; reject it (429) if one is reached."""
        if attributes.operation not in (CREATE, UPDATE) or attributes.dry_run:
            return
        if errors := [error for each in self._enforcers if (error := each.accept(attributes))]:
            message = f"Too many requests: {aggregate_messages(errors)}"
            raise StatusError(429, failure_status(429, "TooManyRequests", message))


class _LimitEnforcer:
    """One limit with a bucket for each key; the keys that were used longest ago are forgotten."""

    def __init__(self, limit: EventLimit) -> None:
        self._limit = limit
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def accept(self, attributes: Attributes) -> str:
        """Count an Event; return the error if the limit is reached."""
        limit, key = self._limit, _key(self._limit.type, attributes)
        if (bucket := self._buckets.get(key)) is None:
            bucket = self._buckets[key] = _Bucket(limit.qps, limit.burst)
        self._buckets.move_to_end(key)
        if len(self._buckets) > (limit.cache_size or _CACHE_SIZE):
            self._buckets.popitem(last=False)
        return "" if bucket.take() else f"limit reached on type {limit.type} for key {key}"


class _Bucket:
    """Token bucket, full at the start."""

    def __init__(self, qps: int, burst: int) -> None:
        self._qps, self._burst = qps, burst
        self._tokens, self._at = float(burst), _clock.now()

    def take(self) -> bool:
        """Take a token; return False if there is none."""
        now = _clock.now()
        passed = max((now - self._at).total_seconds(), 0.0)
        self._tokens, self._at = min(self._tokens + passed * self._qps, self._burst), now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True


def _key(kind: LimitType, attributes: Attributes) -> str:
    match kind:
        case "Server":
            return ""
        case "Namespace":
            return attributes.namespace
        case "User":
            return attributes.user.name
        case "SourceAndObject":
            event: dict[str, Any] = attributes.object or {}
            source, obj = event.get("source") or {}, event.get("involvedObject") or {}
            parts = (source.get("component"), source.get("host"), *(obj.get(each) for each in _REFERENCE))
            return "".join(each or "" for each in parts)
