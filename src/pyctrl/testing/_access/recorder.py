"""Recorder of a program's accesses, inserted between its client and the connection."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from pyctrl._log import current_log_context
from pyctrl.api import Access, GroupVersionKind, KindLike, KubernetesObject, kind_of
from pyctrl.client import Config, HttpRequest, HttpResponse, HttpStream, Transport
from pyctrl.rbac import RecordedAccess, is_default_access, resource_of

__all__ = ["AccessRecorder"]

BLOCKS = b"blockOwnerDeletion"


@dataclass(slots=True)
class _Count:
    first_by: str
    names: set[str] = field(default_factory=set)
    times: int = 0
    refused: int = 0


class AccessRecorder:
    """Recorder of the accesses that an authorizer checks for a program's requests, and of those it denied.

        recorder = AccessRecorder()
        async with Manager(recorder.recorded(cluster.config)) as manager:
            ...
            assert not compare(manager.grants(), recorder.asked).missing

    Every request through the client of such a login is recorded: informers, writes, Events, leases, reviews.

    - A watch with initial events counts as a list too: servers without streaming lists receive a list.
    - Creating an object with ``blockOwnerDeletion``, as `set_controller_reference` sets it, counts as ``update`` of
      the owner's ``finalizers``: clusters with OwnerReferencesPermissionEnforcement require that.
    - An apply that creates its object counts as ``create`` too: API servers check both.
    - A request with impersonation (`pyctrl.client.impersonate`) is recorded as the ``impersonate`` accesses it takes.

    Args:
        by: the origin of the accesses, such as the name of a test; the controller and the object are added.
    """

    def __init__(self, *, by: str = "") -> None:
        self._by = by
        self._counts: dict[Access, _Count] = {}
        self._refused = asyncio.Event()

    def recorded(self, config: Config) -> Config:
        """Return the same login with its requests recorded here."""
        inner = config.wrap_transport
        return replace(config, wrap_transport=lambda carrier: self.wrap(inner(carrier) if inner else carrier))

    def wrap(self, transport: Transport) -> Transport:
        """Return a transport that records requests here and passes them to ``transport``."""
        return _RecordingTransport(transport, self)

    @property
    def asked(self) -> list[RecordedAccess]:
        """The recorded accesses, sorted, without those that every user has."""
        return [each for each in self._all() if not is_default_access(each.access)]

    @property
    def discovery(self) -> list[RecordedAccess]:
        """The recorded accesses that every user has: discovery, and reviews of the user's own permissions."""
        return [each for each in self._all() if is_default_access(each.access)]

    @property
    def refused(self) -> list[RecordedAccess]:
        """The accesses in `asked` that were denied at least once."""
        return [each for each in self.asked if each.refused]

    async def wait_until_refused(self, *, timeout: float | None = 30.0) -> list[RecordedAccess]:
        """Wait for the first denied access, and return all denied ones.

        Raises:
            TimeoutError: none was denied for ``timeout`` seconds.
        """
        async with asyncio.timeout(timeout):
            await self._refused.wait()
        return self.refused

    def note(self, accesses: Iterable[Access]) -> None:
        """Count accesses of a request."""
        for access in accesses:
            count = self._counts.setdefault(access._replace(name=""), _Count(self._origin()))
            count.names.add(access.name)
            count.times += 1

    def note_refusal(self, access: Access) -> None:
        """Count that a recorded access was denied."""
        self._counts[access._replace(name="")].refused += 1
        self._refused.set()

    def _all(self) -> list[RecordedAccess]:
        return [
            RecordedAccess(
                access=access,
                names=frozenset(count.names),
                times=count.times,
                refused=count.refused,
                first_by=count.first_by,
            )
            for access, count in sorted(self._counts.items(), key=lambda item: item[0])
        ]

    def _origin(self) -> str:
        facts = current_log_context()
        if "controller" not in facts:
            return self._by
        obj = "/".join(str(facts[part]) for part in ("namespace", "name") if facts.get(part))
        controller = f"controller {facts['controller']}" + (f" for {obj}" if obj else "")
        return f"{controller} in {self._by}" if self._by else controller


class _RecordingTransport:
    def __init__(self, inner: Transport, recorder: AccessRecorder) -> None:
        self._inner = inner
        self._recorder = recorder

    async def request(self, request: HttpRequest) -> HttpResponse:
        accesses = list(_accesses(request))
        self._recorder.note(accesses)
        response = await self._inner.request(request)
        if response.status == 201 and accesses[0].verb == "patch":
            self._recorder.note([_creation(accesses[0])])
        if response.status == 403:
            self._note_denied(accesses, response.body)
        return response

    def stream(
        self, request: HttpRequest, *, idle_timeout: float | None = None
    ) -> AbstractAsyncContextManager[HttpStream]:
        return self._stream(request, idle_timeout)

    async def aclose(self) -> None:
        await self._inner.aclose()

    @asynccontextmanager
    async def _stream(self, request: HttpRequest, idle_timeout: float | None) -> AsyncIterator[HttpStream]:
        accesses = list(_accesses(request))
        self._recorder.note(accesses)
        async with self._inner.stream(request, idle_timeout=idle_timeout) as stream:
            if stream.status == 403:  # lists, watches and logs: only authorization answers them with 403
                self._recorder.note_refusal(accesses[0])
            yield stream

    def _note_denied(self, accesses: list[Access], body: bytes) -> None:
        """Record the denied access among those of a request. Quotas and webhooks answer 403 too."""
        message = body.decode(errors="replace")
        if accesses[0].verb == "patch" and " cannot create resource " in message:
            accesses = [_creation(accesses[0]), *accesses[1:]]
            self._recorder.note(accesses[:1])
        if "cannot find RESTMapping" in message:
            refused = []  # the server does not know the kind of the owner yet; the program tries again
        elif "cannot set blockOwnerDeletion" in message:
            refused = [access for access in accesses if access.subresource == "finalizers"]
        elif any(f" cannot {accesses[0].verb} {noun} " in message for noun in ("resource", "path")):
            refused = accesses[:1]
        else:
            refused = []
        for access in refused:
            self._recorder.note_refusal(access)


def _creation(patch: Access) -> Access:
    """Return the second access that an apply takes if it creates its object."""
    return patch._replace(verb="create")


def _accesses(request: HttpRequest) -> Iterator[Access]:
    """Yield the accesses that a request takes: its own first, then additional ones."""
    impersonated = list(_impersonated(request.headers))
    if impersonated:
        yield from impersonated
        return
    query = dict(reversed(request.query))
    access = Access.of_request(request.method, request.path, query)
    yield access
    if access.verb == "watch" and query.get("sendInitialEvents") == "true":
        yield access._replace(verb="list")  # the request to servers that do not stream lists
    if request.body is not None and access.verb in ("create", "patch") and BLOCKS in request.body:
        for owner in _blocked_owners(request.body):
            group, plural, is_namespaced = resource_of(_class_of(owner[0]))
            namespace = "" if is_namespaced is False else access.namespace
            yield Access("update", group, plural, "finalizers", namespace, owner[1])


def _impersonated(headers: Mapping[str, str]) -> Iterator[Access]:
    """Yield the accesses that the impersonation headers of a request take."""
    given = {name.lower(): value for name, value in headers.items()}
    user = given.get("impersonate-user")
    if user is None:
        return
    if user.startswith("system:serviceaccount:") and user.count(":") == 3:
        _, _, namespace, name = user.split(":")
        yield Access("impersonate", "", "serviceaccounts", "", namespace, name)
    else:
        yield Access("impersonate", "", "users", name=user)
    if "impersonate-group" in given:
        yield Access("impersonate", "", "groups", name=given["impersonate-group"])


def _blocked_owners(body: bytes) -> Iterator[tuple[GroupVersionKind, str]]:
    """Yield the owners with ``blockOwnerDeletion`` anywhere in an object or a patch."""
    try:
        pending: list[Any] = [json.loads(body)]
    except ValueError:
        return  # YAML, of an apply patch written by hand
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            if value.get("blockOwnerDeletion") is True and "kind" in value and "apiVersion" in value:
                yield GroupVersionKind.parse(value["apiVersion"], value["kind"]), str(value.get("name", ""))
            pending += value.values()
        elif isinstance(value, list):
            pending += value


def _class_of(kind: GroupVersionKind) -> KindLike:
    """Return the program's class of a kind if there is one: it defines the plural, which is otherwise guessed."""
    pending = KubernetesObject.__subclasses__()
    while pending:
        found = pending.pop()
        pending += found.__subclasses__()
        if getattr(found, "resource", None) is not None and kind_of(found) == kind:
            return found
    return kind
