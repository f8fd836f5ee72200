"""Numbers about subscriptions. Imported on first use, so that a start does not wait for it."""

from __future__ import annotations

from dataclasses import dataclass

from pyctrl.api import GroupVersionKind
from pyctrl.controller._reads.kind_reads import KindReads

__all__ = ["SubscriptionStatistics"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionStatistics:
    """Numbers about what the requests of a controller have read of one kind.

    Attributes:
        kind: the kind.
        cluster: the cluster of the objects; "" for that of the manager.
        reads: objects and lists that were read, each once.
        subscriptions: the sum of the readers of each of them.
        largest: the largest number of readers of one object or list.
        enqueued: requests that changes have enqueued so far.
    """

    kind: GroupVersionKind
    cluster: str
    reads: int
    subscriptions: int
    largest: int
    enqueued: int

    @classmethod
    def of(cls, kind: KindReads) -> SubscriptionStatistics:
        """Return the numbers of a kind."""
        return cls(
            kind=kind.informer.gvk,
            cluster=kind.informer.cluster,
            reads=kind.counts.reads,
            subscriptions=kind.counts.subscriptions,
            largest=kind.counts.largest,
            enqueued=kind.enqueued,
        )
