"""The kinds that a controller follows, and whether a restart can know from them what has changed."""

from __future__ import annotations

from collections.abc import Iterable

from pyctrl.api import GroupVersionKind
from pyctrl.cache import Informer
from pyctrl.controller._handlers import OwnerHandler, no_requests
from pyctrl.controller._sources.kind import KindSource
from pyctrl.controller._sources.source import Source
from pyctrl.controller._sources.subscription import SubscriptionSource

__all__ = ["FollowedKinds"]


class FollowedKinds:
    """The informers of the kinds that a controller reconciles and owns.

    Attributes:
        reconciled: the informer of the reconciled kind; None if there is none.
        owned: the informers of owned kinds, with the handlers that return the owners of an object.
        sources: the sources of these kinds.
        unknown: why no request of the controller has a fingerprint; "" if they may have one.
        described: each kind with the manner in which it is followed, for comparison.
    """

    def __init__(self, kind: GroupVersionKind | None, cluster: str, sources: Iterable[Source]) -> None:
        self._kind = kind
        self.reconciled: Informer | None = None
        self.owned: dict[Informer, list[OwnerHandler]] = {}
        self.sources: list[KindSource] = []
        self.unknown: str = "" if not cluster else "it works in another cluster than the manager's"
        described = [self._take(source) for source in sources]
        self.described: tuple[str, ...] = tuple(sorted(described))
        if self.reconciled is None:
            self.unknown = self.unknown or "it reconciles no kind"

    def _take(self, source: Source) -> str:
        """Note a source, and return its description."""
        if not isinstance(source, KindSource) or source.is_elsewhere:
            self.unknown = self.unknown or f"what {source} does not say after a restart is not known"
            return str(source)
        handler, how = source.handler, "reads"
        if source.is_reconciled:
            self.reconciled, how = source.informer, "reconciles"
            self.sources.append(source)
        elif isinstance(handler, OwnerHandler) and self._is_of_kind(handler):
            self.owned.setdefault(source.informer, []).append(handler)
            self.sources.append(source)
            how = "owns"
        elif not isinstance(source, SubscriptionSource) and handler is not no_requests:
            self.unknown = self.unknown or (
                f"it watches {source.gvk.kind} with a handler of its own, so that what changed while it did not run is "
                f"not known; declare reads = ({source.gvk.kind},) instead"
            )
        return f"{how} {source.gvk}"

    def _is_of_kind(self, handler: OwnerHandler) -> bool:
        kind, owner = self._kind, handler.owner
        return kind is not None and (kind.group, kind.kind) == (owner.group, owner.kind)
