"""Detection of owners that only the cache still has, whose new children the garbage collector deletes."""

from __future__ import annotations

import asyncio
import logging

from msgspec import Struct

from pyctrl.api import Key, KindLike, Metadata, kind_of
from pyctrl.cache import CachedClient, Record
from pyctrl.controller._causes import ChangeCause
from pyctrl.controller._request import Request
from pyctrl.errors import CacheError, NotSynced, PyctrlError

__all__ = ["StaleOwners"]

log = logging.getLogger("pyctrl.controller")

#: Reconciles that the deletion of a child has caused, after which the server is asked about the owner. So an operator
#: with a stale owner creates a child twice in vain.
RUNS = 2
#: The same while the server has the owner, as it answered last: twice as many each time, up to this many. It is also
#: the most that such an operator creates in vain, if the owner is deleted after that.
MAX_RUNS = 20
#: Seconds after which such a reconcile no longer counts. The garbage collector takes less than a second, some seconds
#: under load. A loop with a minute for each turn costs nothing.
WINDOW = 60.0
REMEMBERED = 10_000  # requests that are counted at the same time; as for hot loops
REMINDER = 300.0  # seconds between two warnings of a controller about children of the same kind; as for hot loops


class _Suspect(Struct):
    """An owner that loses children."""

    uid: str
    runs: int  # reconciles that the deletion of a child has caused, each within `WINDOW` of the one before
    last: float  # the time of the last one
    children: str  # their kind
    asks_at: int = RUNS  # the number of runs after which the server is asked
    is_stale: bool = False  # as the server has answered last


class StaleOwners:
    """Finds requests whose reconcile would create children for an owner that is not on the server any more.

    The situation: an owner was deleted, and perhaps recreated under its name, but its watch lags. A reconcile still
    sees the old owner and creates a child with the old uid, which the garbage collector deletes at once. The deletion
    causes the next reconcile, which creates the child again. All of them succeed, so that no backoff applies.

    After `RUNS` reconciles that were caused by deletions of children of the owner in the cache, the server is asked for
    the owner. Until the cache is up to date, the answer is the reason not to reconcile. If the server has the owner, it
    is asked again after twice as many of these reconciles, at most `MAX_RUNS`. The cost of other reconciles is one
    truth test.

    Args:
        client: the client of a controller.
        kind: the kind that the controller reconciles.
    """

    def __init__(self, client: CachedClient, kind: KindLike) -> None:
        self._client, self._gvk = client, kind_of(kind)
        self._informer = client.cache.informer(kind, optional=True)  # its source decides whether it is
        #: The requests whose children were deleted lately.
        self.suspects: dict[Request, _Suspect] = {}
        self._warned: dict[str, float] = {}  # the times of the last warnings, by kind of children

    def lost(self, request: Request, cause: ChangeCause) -> None:
        """Count a reconcile that was caused by the deletion of an object, if the cached owner has owned it."""
        owner = self._cached(request)
        if owner is None or owner.uid not in cause.owner_uids:
            return
        now, suspect = asyncio.get_running_loop().time(), self.suspects.get(request)
        if suspect is None or suspect.uid != owner.uid or now - suspect.last > WINDOW:
            suspect = self.suspects[request] = _Suspect(owner.uid, 0, now, "")
            if len(self.suspects) > REMEMBERED:
                del self.suspects[next(iter(self.suspects))]
        suspect.runs, suspect.last, suspect.children = suspect.runs + 1, now, cause.kind.kind

    async def check(self, request: Request) -> NotSynced | None:
        """Return why not to reconcile a request; None if its owner is up to date, or is not suspected.

        An error of the server counts as the answer that the owner is there.
        """
        if (suspect := self.suspects.get(request)) is None:
            return None
        if not suspect.is_stale and asyncio.get_running_loop().time() - suspect.last > WINDOW:
            del self.suspects[request]
            return None
        if suspect.runs < suspect.asks_at:
            return None
        cached = self._cached(request)
        if cached is None or cached.is_deleting or cached.uid != suspect.uid:
            del self.suspects[request]  # the cache has caught up
            return None
        difference = await self._difference(request, cached.uid)
        suspect.is_stale = bool(difference)
        if not difference:
            suspect.asks_at = suspect.runs + min(suspect.runs, MAX_RUNS)
            return None
        self._warn(cached, suspect, difference)
        return NotSynced(f"{self._gvk.kind} {cached.key} is not up to date in the cache: {difference}")

    def _cached(self, request: Request) -> Record | None:
        if request.cluster != self._client.cluster:
            return None
        try:
            return self._informer.find(Key(request.namespace, request.name))
        except CacheError:
            return None

    async def _difference(self, request: Request, uid: str) -> str:
        """Return in what the owner on the server differs from that in the cache; "" if the children may stay.

        A list, because the controller has the permission to list the kind, but perhaps not to get it.
        """
        try:
            found = await self._client.live.list(
                Metadata.of(self._gvk), namespace=request.namespace or None, fields=f"metadata.name={request.name}"
            )
        except PyctrlError:
            return ""
        owner = next((each.metadata for each in found if each.metadata.name == request.name), None)
        if owner is None:
            return f"its uid {uid} is no longer on the server"
        if owner.uid != uid:
            return f"its uid {uid} is no longer on the server, where its name has uid {owner.uid}"
        return f"its uid {uid} is being deleted on the server" if owner.deletion_timestamp else ""

    def _warn(self, owner: Record, suspect: _Suspect, difference: str) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._warned.get(suspect.children, -REMINDER) < REMINDER:
            return
        self._warned[suspect.children] = now
        log.warning(
            "Create loop: the garbage collector deletes what each reconcile creates",
            extra={
                "owner": f"{self._gvk.kind} {owner.key}",
                "children": suspect.children,
                "runs": suspect.runs,
                "reason": difference,
                "fix": f"wait until the watch of {self._gvk.kind} has caught up: it is not reconciled before",
            },
        )
