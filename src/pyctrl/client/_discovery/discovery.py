"""Discovery: resources by kind and by name, cached in memory and refreshed when one is unknown."""

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

REFRESH_INTERVAL = 1.0  # seconds between refreshes, however many unknown kinds are requested
MAX_SUGGESTIONS = 5  # kinds in an error message


class Discovery:
    """Cache of the resources that the cluster serves.

    Nothing is requested before the first lookup. A lookup of an unknown kind refreshes the cache; lookups made in the
    meantime share that refresh. Refreshes start at least a second apart. A lookup waits for a refresh that starts after
    it, so a definition that was installed before the lookup is always found.

    Servers since 1.27 need one request to ``/api`` and one to ``/apis``, which they answer with 304 while nothing has
    changed. Older servers need one for each group version. A group whose extension server does not answer keeps its
    last known resources.

    Args:
        rest: sends the requests.
        server: the server's URL, for error messages.
    """

    def __init__(self, rest: RESTClient, *, server: str = "") -> None:
        self._rest = rest
        self._server = server
        self._roots: dict[str, tuple[str, Groups]] = {}  # by path: ETag and groups of the last answer
        self._known: dict[tuple[str, str], GroupVersion] = {}
        self._kinds: dict[GroupVersionKind, ResourceMapping] = {}
        self._resources: dict[GroupVersionResource, ResourceMapping] = {}
        self._refreshing = asyncio.Lock()
        self._started = 0
        self._outcome: tuple[int, Exception | None] = (0, None)  # number of the last refresh, and its error
        self._refreshed_at: float | None = None

    async def mapping(self, gvk: GroupVersionKind) -> ResourceMapping:
        """Return the resource of a kind.

        Raises:
            UnknownKind: the cluster does not serve the kind.
            ApiError, TransportError: discovery failed.
        """
        found = self._kinds.get(gvk)
        if found is None:
            await self._refresh(lambda: gvk in self._kinds)
            found = self._kinds.get(gvk)
        if found is None:
            raise self._unknown(gvk)
        return found

    async def mapping_for_resource(self, group: str, version: str, plural: str) -> ResourceMapping:
        """Return the mapping of a resource to its kind. Raises as `mapping` does."""
        gvr = GroupVersionResource(group, version, plural)
        if gvr not in self._resources:
            await self._refresh(lambda: gvr in self._resources)
        found = self._resources.get(gvr)
        if found is None:
            raise self._unknown(gvr)
        return found

    async def named(self, name: str) -> tuple[ResourceMapping, ...]:
        """Return the resources that ``name`` means on a command line, best match first.

        ``name`` is a plural, singular, kind or short name in any case, optionally followed by ``.GROUP`` or
        ``.VERSION.GROUP``. There are several results if several groups have the name; kubectl takes the first.

        Raises:
            UnknownKind: no resource has this name; the message suggests similar names.
            ApiError, TransportError: discovery failed.
        """
        if not self._known or not self._find_by_name(name):
            await self._refresh(lambda: bool(self._known and self._find_by_name(name)))
        found = self._find_by_name(name)
        if not found:
            stale = [group.group for group in self._known.values() if group.is_stale]
            down = [f"{group}, by a server that does not answer now" for group in stale]
            near = similar_resources(name, tuple(self._resources.values()))
            raise UnknownKind(repr(name), server=self._server, served=[*near, *down])
        return found

    def _find_by_name(self, name: str) -> tuple[ResourceMapping, ...]:
        return resources_for(name, tuple(self._resources.values()))

    async def mappings(self, *, refresh: bool = False) -> tuple[ResourceMapping, ...]:
        """Return all resources, each group's preferred version first; with ``refresh`` they are requested again."""
        if refresh or not self._known:
            await self._refresh(lambda: False)
        return tuple(self._resources.values())

    def stale(self) -> tuple[str, ...]:
        """Return the group versions whose server did not answer the last refresh, such as ``metrics.k8s.io/v1beta1``.

        Their resources are the last known ones, or missing.
        """
        return tuple(f"{group.group}/{group.version}" for group in self._known.values() if group.is_stale)

    async def refresh(self) -> None:
        """Refresh the cache now, or share the refresh that starts next."""
        await self._refresh(lambda: False)

    def learn(self, mapping: ResourceMapping) -> None:
        """Add a resource that is known from its definition, which saves a refresh."""
        self._kinds[mapping.gvk] = mapping
        self._resources[mapping.gvr] = mapping

    def forget(self, gvk: GroupVersionKind) -> None:
        """Remove a kind that the server no longer serves, so that the next lookup refreshes the cache."""
        mapping = self._kinds.pop(gvk, None)
        if mapping is not None:
            self._resources.pop(mapping.gvr, None)

    async def explain(self, asked: GroupVersionKind) -> UnknownKind:
        """Return the error for a kind that is not served; refreshes an empty cache for its suggestions."""
        if not self._known:
            with contextlib.suppress(PyctrlError):  # the error is useful without suggestions
                await self.refresh()
        return self._unknown(asked)

    def _unknown(self, asked: GroupVersionKind | GroupVersionResource) -> UnknownKind:
        return UnknownKind(asked, server=self._server, served=_suggestions(asked, self._known.values(), self._kinds))

    async def _refresh(self, is_answered: Callable[[], bool]) -> None:
        started = self._started
        async with self._refreshing:
            if is_answered():
                return
            number, error = self._outcome
            if number > started:  # a refresh started after this lookup and has ended
                if error is not None:
                    raise error
                return
            await self._wait_for_interval()
            await asyncio.sleep(0)  # lookups of this turn of the loop share the refresh
            self._started += 1
            try:
                self._replace(await self._fetch())
            except Exception as failed:
                self._outcome = (self._started, failed)
                raise
            self._outcome = (self._started, None)

    async def _wait_for_interval(self) -> None:
        if self._refreshed_at is not None:
            elapsed = asyncio.get_running_loop().time() - self._refreshed_at
            await asyncio.sleep(max(0.0, REFRESH_INTERVAL - elapsed))
        self._refreshed_at = asyncio.get_running_loop().time()

    async def _fetch(self) -> Groups:
        groups = [group for root in ("/api", "/apis") for group in await self._read(root)]
        return [await self._with_resources(group) for group in groups]

    async def _read(self, root: str) -> Groups:
        """Read a discovery document; with 304 the last one is used."""
        tag, groups = self._roots.get(root, ("", []))
        headers = {"Accept": AGGREGATED, "If-None-Match": tag} if tag else {"Accept": AGGREGATED}
        try:
            response = await self._rest.send(HttpRequest(method="GET", path=root, headers=headers))
        except NotFound:
            if root == "/api":
                return []  # an extension API server without the core group
            raise
        if response.status == NOT_MODIFIED:
            return groups
        try:
            groups = read_groups(response.body)
        except UNREADABLE as error:
            raise DecodeError(f"GET {root} is not a discovery document: {why_unreadable(error)}") from error
        self._roots[root] = (response.headers.get("ETag", ""), groups)
        return groups

    async def _with_resources(self, group: GroupVersion) -> GroupVersion:
        """Return a group version with its resources; the last known ones when its server does not answer."""
        last = self._known.get((group.group, group.version))
        if group.resources is None:
            path = GroupVersionResource(group.group, group.version, "").path
            try:
                body = (await self._rest.send(HttpRequest(method="GET", path=path))).body
                return msgspec.structs.replace(group, resources=read_resources(group, body))
            except (ApiError, TransportError, *UNREADABLE) as error:
                if isinstance(error, (NotFound, Unauthorized, Forbidden)):
                    return msgspec.structs.replace(group, resources=())
                log.warning("Group version discovery failed", extra={"path": path, "error": str(error)})
                group = msgspec.structs.replace(group, resources=(), is_stale=True)
        if group.is_stale and not group.resources and last is not None:
            return msgspec.structs.replace(group, resources=last.resources)
        return group

    def _replace(self, groups: Groups) -> None:
        # no await: kinds, resources and groups are replaced together
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
    """Return the same kind in other groups and versions, then other kinds of the group."""
    stale = [group for group in groups if group.is_stale and group.group == asked.group]
    down = [f"{group.group}/{group.version} by a server that does not answer now" for group in stale]
    name = asked[2].lower()
    alike = [k for k in kinds if name in (k.kind.lower(), f"{k.kind.lower()}s")]
    same_group = [k for k in kinds if k.group == asked.group and asked.group and k not in alike]
    return [*down, *(f"{k.api_version} {k.kind}" for k in [*alike, *same_group][:MAX_SUGGESTIONS])]
