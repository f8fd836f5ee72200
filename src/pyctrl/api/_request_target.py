"""The resource that a request's URL names, and the request's verb."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

__all__ = ["RequestTarget"]


class RequestTarget(NamedTuple):
    """The resource that a URL names."""

    group: str
    version: str
    resource: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    watch: bool = False  # the old /watch/ prefix, which kube-apiserver still serves
    is_whole: bool = True  # False when the path has an empty segment, or continues after the sub-resource

    @staticmethod
    @lru_cache(maxsize=4096)
    def parse(path: str) -> RequestTarget | None:
        """Parse the path of a resource; None for other paths (discovery, health, ...).

        As in kube-apiserver trailing slashes are ignored, an escaped slash is a slash, and paths stay as they are.
        """
        segments = (unquote(path) if "%" in path else path).removeprefix("/").rstrip("/").split("/")
        if segments[0] == "api" and len(segments) >= 3:
            group, version, rest = "", segments[1], segments[2:]
        elif segments[0] == "apis" and len(segments) >= 4 and segments[1]:
            group, version, rest = segments[1], segments[2], segments[3:]
        else:
            return None
        watch = rest[0] == "watch" and len(rest) > 1
        if watch:
            rest = rest[1:]
        namespace = ""
        if rest[0] == "namespaces" and len(rest) >= 3 and not (group == "" and rest[2] in _OF_NAMESPACES):
            namespace, rest = rest[1], rest[2:]
        resource, name, subresource = (*rest, "", "")[:3]
        is_proxy = not group and subresource == "proxy" and all(rest[:3])  # the rest is a path of what it reaches
        is_whole = is_proxy or (all(rest) and len(rest) <= 3)
        return RequestTarget(group, version, resource, namespace, name, subresource, watch, is_whole)

    def verb(self, method: str, query: Mapping[str, str]) -> str:
        """Return the verb of a request in authorization and the audit log; "" for methods without one."""
        verb = _VERBS.get(method, "")
        if self.watch and verb == "get":
            return "watch"
        if self.name:
            return verb
        if verb == "get":
            return "watch" if query.get("watch", "0").lower() not in _NO else "list"
        return "deletecollection" if verb == "delete" else verb


_OF_NAMESPACES = ("status", "finalize")  # /api/v1/namespaces/NAME/status is a sub-resource of the namespace

_VERBS = {
    "GET": "get",
    "HEAD": "get",
    "POST": "create",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}

_NO = ("0", "false")  # Go reads every other value of a present parameter as true
