"""A request as the handlers see it: which resource the URL means, and who asks for what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from ._forms import Form

if TYPE_CHECKING:
    from ._authentication import User
    from ._fieldset import Settled
    from ._resources import ResourceType


class Target(NamedTuple):
    """The place that a URL of a resource names."""

    group: str
    version: str
    resource: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    watch: bool = False  # the old /watch/ prefix, which kube-apiserver still serves


@lru_cache(maxsize=4096)
def parse_target(path: str) -> Target | None:
    """Read the path of a resource; None when it is not the path of one (discovery, health, ...).

    As in kube-apiserver a slash at the end means nothing, one that is escaped is one, and paths are not tidied up:
    with an empty segment, or with more than there can be, there is no such resource.
    """
    target, is_whole = _parse(path)
    return target if target is None or is_whole else Target(target.group, target.version, "")


@lru_cache(maxsize=4096)
def guarded_target(path: str) -> Target | None:
    """Read what authorization is asked about: also what goes on after a sub-resource, as `pods/NAME/proxy/...`."""
    return _parse(path)[0]


def _parse(path: str) -> tuple[Target | None, bool]:
    """Read the path of a resource, and whether there can be such a path."""
    segments = (unquote(path) if "%" in path else path).removeprefix("/").removesuffix("/").split("/")
    if segments[0] == "api" and len(segments) >= 3:
        group, version, rest = "", segments[1], segments[2:]
    elif segments[0] == "apis" and len(segments) >= 4:
        group, version, rest = segments[1], segments[2], segments[3:]
    else:
        return None, False
    watch = rest[0] == "watch" and len(rest) > 1
    if watch:
        rest = rest[1:]
    namespace = ""
    if rest[0] == "namespaces" and len(rest) >= 3 and not (group == "" and rest[2] in _OF_NAMESPACES):
        namespace, rest = rest[1], rest[2:]
    resource, name, subresource = (*rest, "", "")[:3]
    return Target(group, version, resource, namespace, name, subresource, watch), all(rest) and len(rest) <= 3


_OF_NAMESPACES = ("status", "finalize")  # /api/v1/namespaces/NAME/status is no resource inside the namespace


_VERBS = {
    "GET": "get",
    "HEAD": "get",
    "POST": "create",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}


def verb_of(method: str, target: Target | None, query: Query) -> str:
    """Give the verb that authorization and the audit log know a request by; "" for methods without one."""
    if target is None:
        return method.lower()
    verb = _VERBS.get(method, "")
    if target.watch and verb == "get":
        return "watch"
    if target.name:
        return verb
    if verb == "get":
        return "watch" if query.flag("watch") else "list"
    return "deletecollection" if verb == "delete" else verb


class Query:
    """The query parameters of a request; of a repeated one the first counts, as in Go."""

    __slots__ = ("_all", "_first")

    def __init__(self, parameters: Sequence[tuple[str, str]]) -> None:
        self._all = parameters
        self._first = dict(reversed(parameters))

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._all)

    def get(self, name: str) -> str:
        """Give a parameter, "" when it is absent."""
        return self._first.get(name, "")

    def has(self, name: str) -> bool:
        """Whether a parameter is there at all."""
        return name in self._first

    def every(self, name: str) -> list[str]:
        """Give all values of a parameter that may be repeated."""
        return [value for key, value in self._all if key == name] if name in self._first else []

    def flag(self, name: str) -> bool | None:
        """Give a boolean parameter, None when it is absent; Go takes everything but 0 and false as true."""
        if name not in self._first:
            return None
        return self._first[name].lower() not in ("0", "false")


class MustWait(RuntimeError):
    """An answer was wanted at once that takes time. A mistake of who asked; nothing was changed."""


@dataclass(slots=True, kw_only=True)
class Request:
    """One request for a resource, after authentication."""

    method: str
    path: str
    target: Target
    resource: ResourceType
    query: Query
    headers: Mapping[str, str]  # names in lower case
    body: bytes
    user: User
    form: Form
    warnings: list[str] = field(default_factory=list)
    annotations: dict[str, str] = field(default_factory=dict)  # of the audit event
    settled: Settled | None = None  # what was seen of the object that was decoded last
    may_wait: bool = True  # False when the answer is wanted at once

    def must_wait(self, what: str) -> None:
        """Say that the answer takes time.

        Raises:
            MustWait: there is none.
        """
        if not self.may_wait:
            raise MustWait(f"{self.method} {self.path} has to wait for {what}: await ApiServer.handle for it")

    @property
    def manager(self) -> str:
        """The field manager: named, or the first part of the user agent."""
        return self.query.get("fieldManager") or _first_part(self.headers.get("user-agent", ""))


@lru_cache(maxsize=256)
def _first_part(agent: str) -> str:
    return "".join(filter(str.isprintable, agent.split("/", 1)[0]))[:128] or "unknown"
