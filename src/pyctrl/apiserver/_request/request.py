"""Requests for resources, as the handlers get them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlencode

import msgspec

from pyctrl._clock import is_replaced
from pyctrl.api import RequestTarget
from pyctrl.apiserver._request.negotiation import MediaTypeOptions

if TYPE_CHECKING:
    from pyctrl.apiserver._authn import User
    from pyctrl.apiserver._resources.resource_type import DecodedFields, ResourceType


__all__ = ["ParsedQuery", "QueryParameters", "ResourceRequest", "WouldBlock", "parse_target"]


T = TypeVar("T")


@lru_cache(maxsize=4096)
def parse_target(path: str) -> RequestTarget | None:
    """Parse the path of a resource; None for other paths (discovery, health, ...).

    A path with an empty segment or with too many segments names a resource that does not exist.
    """
    target = RequestTarget.parse(path)
    return target if target is None or target.is_whole else RequestTarget(target.group, target.version, "")


class ParsedQuery(list[tuple[str, str]]):
    """The parameters of a query string, with the string itself."""

    def __init__(self, text: str, parameters: Iterable[tuple[str, str]]) -> None:
        super().__init__(parameters)
        self.text = text


@lru_cache(maxsize=256)
def _encoded(parameters: tuple[tuple[str, str], ...]) -> str:
    return urlencode(parameters)


class QueryParameters:
    """Query parameters of a request. The first value of a repeated parameter counts, as in Go."""

    __slots__ = ("_all", "first")

    def __init__(self, parameters: Sequence[tuple[str, str]]) -> None:
        self._all = parameters
        #: The first value of each parameter.
        self.first: Mapping[str, str] = dict(reversed(parameters))

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._all)

    @property
    def text(self) -> str:
        """The query string, as the client has sent it if it came over HTTP."""
        return self._all.text if isinstance(self._all, ParsedQuery) else _encoded(tuple(self._all))

    def get(self, name: str) -> str:
        """Return the value of a parameter, "" when it is absent."""
        return self.first.get(name, "")

    def has(self, name: str) -> bool:
        """Return whether a parameter is present."""
        return name in self.first

    def every(self, name: str) -> list[str]:
        """Return all values of a parameter that may be repeated."""
        return [value for key, value in self._all if key == name] if name in self.first else []

    def flag(self, name: str) -> bool | None:
        """Return a boolean parameter, None when it is absent. Every value except 0 and false is true, as in Go."""
        if name not in self.first:
            return None
        return self.first[name].lower() not in ("0", "false")


class WouldBlock(RuntimeError):
    """`ApiServer.handle_nowait` was called for a request that has to wait. Nothing was changed."""


class ResourceRequest(msgspec.Struct, kw_only=True, eq=False):
    """One request for a resource, after authentication."""

    method: str
    path: str
    target: RequestTarget
    resource: ResourceType
    query: QueryParameters
    headers: Mapping[str, str]  # names in lower case
    body: bytes
    user: User
    form: MediaTypeOptions = MediaTypeOptions()  # the representation that the client accepts
    warnings: list[str] = []
    annotations: dict[str, str] = {}  # of the audit event
    decoded_fields: DecodedFields | None = None  # fields of the object that was decoded last, if it is valid
    may_wait: bool = True  # False for `ApiServer.handle_nowait`
    sent_headers: Sequence[tuple[str, str]] = ()  # all of them, as the client has sent them
    address: str = ""  # of the client

    def must_wait(self, what: str) -> None:
        """Check that the request may wait for `what`.

        Raises:
            WouldBlock: It may not.
        """
        if not self.may_wait:
            raise WouldBlock(f"{self.method} {self.path} has to wait for {what}: await ApiServer.handle instead")

    async def off_the_loop(self, compute: Callable[[], T]) -> T:
        """Return the result of a long computation on data that no other task changes.

        It runs in a thread, so that the server answers other requests meanwhile. Virtual time has no threads, and a
        request that may not wait cannot use one. Then it runs at once.
        """
        if not self.may_wait or is_replaced():
            return compute()
        return await asyncio.to_thread(compute)

    @property
    def manager(self) -> str:
        """The field manager: the query parameter, or the first part of the user agent."""
        return self.query.get("fieldManager") or _first_part(self.headers.get("user-agent", ""))


@lru_cache(maxsize=256)
def _first_part(agent: str) -> str:
    return "".join(filter(str.isprintable, agent.split("/", 1)[0]))[:128] or "unknown"
