"""How informers are doing, in numbers. Imported when somebody asks, which a start does not wait for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from pyctrl.api import GroupVersionKind

__all__ = ["InformerStatistics"]


@dataclass(frozen=True, slots=True, kw_only=True)
class InformerStatistics:
    """How an informer is doing.

    Attributes:
        kind: of what.
        objects: how many are kept.
        size_bytes: what is kept of them, in bytes: JSON or, with ``KindOptions(compress=True)``, that compressed.
        is_synced: whether every first list is complete.
        age: how long ago the server last gave a sign of life, on the part that is worst off; None: never.
        relists: complete lists after the first.
        stages: what each reflector is doing.
        error: why it is not up to date; None when it is.
        is_served: whether the cluster serves the kind, as far as is known.
        is_failing: whether it is not up to date and ought to be: an optional kind that is not served is not.
        own_writes: objects that this process has written and the informer has not seen yet.
        own_writes_lag: how long ago the oldest of these was written.
        own_writes_given_up: how many of them were too many to keep.
        is_stalled: whether its watch brings nothing although the server has newer versions.
        unreadable: objects that cannot be decoded; see `Informer.unreadable`.
    """

    kind: GroupVersionKind
    objects: int
    size_bytes: int
    is_synced: bool
    age: timedelta | None
    relists: int
    stages: tuple[str, ...]
    error: str | None
    is_served: bool
    is_failing: bool
    own_writes: int
    own_writes_lag: timedelta
    own_writes_given_up: int
    unreadable: int = 0
    is_stalled: bool = False
