"""A request as the handlers see it: which resource the URL means, and who asks for what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from pyctrl.api import RequestTarget
from pyctrl.apiserver._request.negotiation import MediaTypeOptions

if TYPE_CHECKING:
    from pyctrl.apiserver._authn import User
    from pyctrl.apiserver._resources.resource_type import DecodedFields, ResourceType


@lru_cache(maxsize=4096)
def parse_target(path: str) -> RequestTarget | None:
    """Read the path of a resource; None when it is not the path of one (discovery, health, ...).

    With an empty segment, or with more than there can be, there is no such resource.
    """
    target = RequestTarget.parse(path)
    return target if target is None or target.is_whole else RequestTarget(target.group, target.version, "")


class QueryParameters:
    """The query parameters of a request; of a repeated one the first counts, as in Go."""

    __slots__ = ("_all", "first")

    def __init__(self, parameters: Sequence[tuple[str, str]]) -> None:
        self._all = parameters
        #: The value of each parameter that is there.
        self.first: Mapping[str, str] = dict(reversed(parameters))

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._all)

    def get(self, name: str) -> str:
        """Give a parameter, "" when it is absent."""
        return self.first.get(name, "")

    def has(self, name: str) -> bool:
        """Whether a parameter is there at all."""
        return name in self.first

    def every(self, name: str) -> list[str]:
        """Give all values of a parameter that may be repeated."""
        return [value for key, value in self._all if key == name] if name in self.first else []

    def flag(self, name: str) -> bool | None:
        """Give a boolean parameter, None when it is absent; Go takes everything but 0 and false as true."""
        if name not in self.first:
            return None
        return self.first[name].lower() not in ("0", "false")


class WouldBlock(RuntimeError):
    """An answer was wanted at once that takes time. A mistake of who asked; nothing was changed."""


@dataclass(slots=True, kw_only=True)
class ResourceRequest:
    """One request for a resource, after authentication."""

    method: str
    path: str
    target: RequestTarget
    resource: ResourceType
    query: QueryParameters
    headers: Mapping[str, str]  # names in lower case
    body: bytes
    user: User
    form: MediaTypeOptions
    warnings: list[str] = field(default_factory=list)
    annotations: dict[str, str] = field(default_factory=dict)  # of the audit event
    settled: DecodedFields | None = None  # what was seen of the object that was decoded last
    may_wait: bool = True  # False when the answer is wanted at once

    def must_wait(self, what: str) -> None:
        """Say that the answer takes time.

        Raises:
            WouldBlock: there is none.
        """
        if not self.may_wait:
            raise WouldBlock(f"{self.method} {self.path} has to wait for {what}: await ApiServer.handle for it")

    @property
    def manager(self) -> str:
        """The field manager: named, or the first part of the user agent."""
        return self.query.get("fieldManager") or _first_part(self.headers.get("user-agent", ""))


@lru_cache(maxsize=256)
def _first_part(agent: str) -> str:
    return "".join(filter(str.isprintable, agent.split("/", 1)[0]))[:128] or "unknown"
