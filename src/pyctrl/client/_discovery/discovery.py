"""What the cluster serves: kinds to resources and back, kept in memory and refreshed when a kind is unknown."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable

import msgspec

from pyctrl._json import UNREADABLE, why_unreadable
from pyctrl.api import GroupVersionKind, GroupVersionResource
from pyctrl.client._discovery.documents import AGGREGATED, Groups, GroupVersion, read_groups, read_resources
from pyctrl.client._discovery.resource_argument import resources_for, similar_resources
from pyctrl.client._discovery.resource_mapping import ResourceMapping
from pyctrl.client._transport.rest_client import NOT_MODIFIED, RESTClient
from pyctrl.client._transport.transport import HttpRequest
from pyctrl.errors import (
    ApiError,
    DecodeError,
    Forbidden,
    NotFound,
    PyctrlError,
    TransportError,
    Unauthorized,
    UnknownKind,
)

__all__ = ["Discovery"]

log = logging.getLogger("pyctrl.client")

REFRESH_INTERVAL = 1.0  # seconds between refreshes: many askers for kinds that do not exist cost one request a second
MAX_SUGGESTIONS = 5  # kinds named in an error: what fits into a sentence


class Discovery:
    """Answers where a kind is served.

    Nothing is asked before the first question. A kind that is not known makes one refresh, shared by everybody who
    asks meanwhile; refreshes begin at least a second apart, and an asker waits for its turn rather than be told of a
    state from before its question. So a definition that was installed before the question is always found.

    One request to ``/api`` and one to ``/apis`` are enough on servers since 1.27, which answer 304 while nothing has
    changed; older ones are asked group by group.
    A group whose extension server does not answer keeps the resources that were last known of it.

    Args:
        exchange: how to ask.
        server: how errors name the cluster.
    """

    def __init__(self, exchange: RESTClient, *, server: str = "") -> None:
        self._exchange = exchange
        self._server = server
        self._roots: dict[str, tuple[str, Groups]] = {}  # what was read last, by path, and its tag
        self._known: dict[tuple[str, str], GroupVersion] = {}
        self._kinds: dict[GroupVersionKind, ResourceMapping] = {}
        self._resources: dict[GroupVersionResource, ResourceMapping] = {}
        self._refreshing = asyncio.Lock()
        self._begun = 0
        self._outcome: tuple[int, Exception | None] = (0, None)  # of which refresh, and its error
        self._refreshed_at: float | None = None

    async def mapping(self, gvk: GroupVersionKind) -> ResourceMapping:
        """Return where a kind is served.

        Raises:
            UnknownKind: the cluster does not serve it.
            ApiError, TransportError: the cluster could not be asked.
        """
        found = self._kinds.get(gvk)
        if found is None:
            await self._refresh(lambda: gvk in self._kinds)
            found = self._kinds.get(gvk)
        if found is None:
            raise self._unknown(gvk)
        return found

    async def mapping_for_resource(self, group: str, version: str, plural: str) -> ResourceMapping:
        """Return which kind a resource is of. Raises as `mapping` does."""
        gvr = GroupVersionResource(group, version, plural)
        if gvr not in self._resources:
            await self._refresh(lambda: gvr in self._resources)
        found = self._resources.get(gvr)
        if found is None:
            raise self._unknown(gvr)
        return found

    async def named(self, name: str) -> tuple[ResourceMapping, ...]:
        """Return what people call ``name`` on a command line, best first: more than one if several groups have it.

        A plural, singular, kind or short name in any case, with ``.GROUP`` or ``.VERSION.GROUP`` behind it or not.
        As kubectl does, take the first.

        Raises:
            UnknownKind: nothing has this name; the message names those that are spelled alike.
            ApiError, TransportError: the cluster could not be asked.
        """
        if not self._known or not self._meant(name):
            await self._refresh(lambda: bool(self._known and self._meant(name)))
        found = self._meant(name)
        if not found:
            stale = [group.group for group in self._known.values() if group.is_stale]
            down = [f"{group}, by a server that does not answer now" for group in stale]
            near = similar_resources(name, tuple(self._resources.values()))
            raise UnknownKind(repr(name), server=self._server, served=[*near, *down])
        return found

    def _meant(self, name: str) -> tuple[ResourceMapping, ...]:
        return resources_for(name, tuple(self._resources.values()))

    async def mappings(self, *, refresh: bool = False) -> tuple[ResourceMapping, ...]:
        """Return everything that is served, each group's preferred version first; asked anew with ``refresh``."""
        if refresh or not self._known:
            await self._refresh(lambda: False)
        return tuple(self._resources.values())

    async def refresh(self) -> None:
        """Ask the cluster now, or share the refresh that begins next."""
        await self._refresh(lambda: False)

    def learn(self, mapping: ResourceMapping) -> None:
        """Take a kind as served that one knows from its definition, which saves a refresh."""
        self._kinds[mapping.gvk] = mapping
        self._resources[mapping.gvr] = mapping

    def forget(self, gvk: GroupVersionKind) -> None:
        """Drop a kind that the server no longer serves, so that the next question asks for it."""
        mapping = self._kinds.pop(gvk, None)
        if mapping is not None:
            self._resources.pop(mapping.gvr, None)

    async def explain(self, asked: GroupVersionKind) -> UnknownKind:
        """Make the error for a kind that turned out not to be served; asks what is, unless that is known."""
        if not self._known:
            with contextlib.suppress(PyctrlError):  # the answer is worth having without the hint
                await self.refresh()
        return self._unknown(asked)

    def _unknown(self, asked: GroupVersionKind | GroupVersionResource) -> UnknownKind:
        return UnknownKind(asked, server=self._server, served=_suggestions(asked, self._known.values(), self._kinds))

    async def _refresh(self, is_answered: Callable[[], bool]) -> None:
        asked = self._begun
        async with self._refreshing:
            if is_answered():
                return
            number, error = self._outcome
            if number > asked:  # a refresh has begun after the question and is over
                if error is not None:
                    raise error
                return
            await self._wait_for_turn()
            await asyncio.sleep(0)  # who asks in this turn of the loop shares it, and is not told a second later
            self._begun += 1
            try:
                self._take(await self._fetch())
            except Exception as failed:
                self._outcome = (self._begun, failed)
                raise
            self._outcome = (self._begun, None)

    async def _wait_for_turn(self) -> None:
        if self._refreshed_at is not None:
            elapsed = asyncio.get_running_loop().time() - self._refreshed_at
            await asyncio.sleep(max(0.0, REFRESH_INTERVAL - elapsed))
        self._refreshed_at = asyncio.get_running_loop().time()

    async def _fetch(self) -> Groups:
        groups = [group for root in ("/api", "/apis") for group in await self._read(root)]
        return [await self._completed(group) for group in groups]

    async def _read(self, root: str) -> Groups:
        """Read a document, unless the server says that it is as it was: then asking again costs next to nothing."""
        tag, groups = self._roots.get(root, ("", []))
        headers = {"Accept": AGGREGATED, "If-None-Match": tag} if tag else {"Accept": AGGREGATED}
        response = await self._exchange.send(HttpRequest(method="GET", path=root, headers=headers))
        if response.status == NOT_MODIFIED:
            return groups
        try:
            groups = read_groups(response.body)
        except UNREADABLE as error:
            raise DecodeError(f"GET {root} is not a discovery document: {why_unreadable(error)}") from error
        self._roots[root] = (response.headers.get("ETag", ""), groups)
        return groups

    async def _completed(self, group: GroupVersion) -> GroupVersion:
        """Fill in the resources of a group version that came without them; the last known ones when it is down."""
        last = self._known.get((group.group, group.version))
        if group.resources is None:
            path = GroupVersionResource(group.group, group.version, "").path
            try:
                body = (await self._exchange.send(HttpRequest(method="GET", path=path))).body
                return msgspec.structs.replace(group, resources=read_resources(group, body))
            except (ApiError, TransportError, *UNREADABLE) as error:
                if isinstance(error, (NotFound, Unauthorized, Forbidden)):
                    return msgspec.structs.replace(group, resources=())
                log.warning("a group version cannot be discovered", extra={"path": path, "error": str(error)})
                group = msgspec.structs.replace(group, resources=(), is_stale=True)
        if group.is_stale and not group.resources and last is not None:
            return msgspec.structs.replace(group, resources=last.resources)
        return group

    def _take(self, groups: Groups) -> None:
        # no await in here: kinds, resources and groups are replaced together
        self._known = {(group.group, group.version): group for group in groups}
        self._kinds, self._resources = {}, {}
        for group in groups:
            for mapping in group.resources or ():
                self._kinds.setdefault(mapping.gvk, mapping)
                self._resources[mapping.gvr] = mapping


def _suggestions(
    asked: GroupVersionKind | GroupVersionResource,
    groups: Iterable[GroupVersion],
    kinds: Iterable[GroupVersionKind],
) -> list[str]:
    """Name the same kind in other groups and versions first, then what else the group serves."""
    stale = [group for group in groups if group.is_stale and group.group == asked.group]
    down = [f"{group.group}/{group.version} by a server that does not answer now" for group in stale]
    name = asked[2].lower()
    alike = [k for k in kinds if name in (k.kind.lower(), f"{k.kind.lower()}s")]
    same_group = [k for k in kinds if k.group == asked.group and asked.group and k not in alike]
    return [*down, *(f"{k.api_version} {k.kind}" for k in [*alike, *same_group][:MAX_SUGGESTIONS])]
