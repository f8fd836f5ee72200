"""Recorded accesses of a program, and their file format."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pyctrl.api import Access, AccessRule
from pyctrl.errors import RbacError
from pyctrl.rbac._permission import Permission, PermissionScope

__all__ = [
    "ANY_NAMESPACE",
    "RecordedAccess",
    "is_default_access",
    "merge_recordings",
    "read_recording",
    "write_recording",
]

ANY_NAMESPACE = "*"  # the namespace of namespaced accesses in a recording, which does not keep the real one
MANY_NAMES = 20  # with more names than this, a recording keeps none

#: The rules of every authenticated user: the cluster roles system:basic-user, system:discovery and
#: system:public-info-viewer of Kubernetes 1.36.
DEFAULT_RULES = (
    AccessRule(
        verbs=("create",),
        groups=("authorization.k8s.io",),
        resources=("selfsubjectaccessreviews", "selfsubjectrulesreviews"),
    ),
    AccessRule(verbs=("create",), groups=("authentication.k8s.io",), resources=("selfsubjectreviews",)),
    AccessRule(
        verbs=("get",),
        paths=(
            *("/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*"),
            *("/version", "/version/", "/healthz", "/livez", "/readyz"),
        ),
    ),
)


def is_default_access(access: Access) -> bool:
    """Return whether every authenticated user has an access: discovery and reviews of the user's own access."""
    return any(rule.allows(access) for rule in DEFAULT_RULES)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedAccess:
    """One verb on one resource in one namespace that was requested, and how often it was allowed or refused.

    Attributes:
        access: the access, without a name.
        names: the names of the objects; includes ``""`` for a request without a name, such as create.
        times: the number of requests.
        refused: how many of them were answered with 403.
        first_by: a description of the first requester.
    """

    access: Access
    names: frozenset[str] = frozenset([""])
    times: int = 1
    refused: int = 0
    first_by: str = ""

    @property
    def permission(self) -> Permission:
        """The permission that grants it for objects of any name, in the watched namespaces if it is namespaced."""
        access = self.access
        if not access.is_resource:
            return Permission(
                rule=AccessRule(verbs=(access.verb,), paths=(access.path,)), where=PermissionScope.CLUSTER
            )
        rule = AccessRule(verbs=(access.verb,), groups=(access.group,), resources=(access.shown_resource,))
        return Permission(rule=rule, where=PermissionScope.WATCHED if access.namespace else PermissionScope.CLUSTER)

    def each(self) -> Iterator[Access]:
        """Yield the access of each name."""
        for name in sorted(self.names):
            yield self.access._replace(name=name)

    def __str__(self) -> str:
        times = "once" if self.times == 1 else f"{self.times} times"
        first = f", {'first ' if self.times > 1 else ''}by {self.first_by}" if self.first_by else ""
        return f"{self._what()} (requested {times}{first})"

    def _what(self) -> str:
        names = ", ".join(repr(name) for name in sorted(self.names) if name)
        words = str(self.access).replace(f"namespace {ANY_NAMESPACE!r}", "some namespace")
        what = f"{self.access.verb} {self.access.qualified_resource}"
        return words.replace(what, f"{what} {names}", 1) if names else words


def merge_recordings(asked: Iterable[RecordedAccess]) -> list[RecordedAccess]:
    """Merge recordings of the same access, and return them sorted. The earliest ``first_by`` is kept."""
    found: dict[Access, RecordedAccess] = {}
    for each in asked:
        known = found.get(each.access)
        if known is not None:
            each = replace(
                known,
                names=known.names | each.names,
                times=known.times + each.times,
                refused=known.refused + each.refused,
                first_by=known.first_by or each.first_by,
            )
        found[each.access] = each
    return [found[access] for access in sorted(found)]


def write_recording(asked: Iterable[RecordedAccess]) -> str:
    """Return a recording as the text of a file: JSON, sorted, deterministic.

    The namespaces of tests differ from those of production, and often from run to run. A recording keeps only whether
    an access was namespaced. It keeps at most `MANY_NAMES` object names.
    """
    somewhere = merge_recordings(
        replace(each, access=each.access._replace(namespace=ANY_NAMESPACE)) if each.access.namespace else each
        for each in asked
    )
    lines = ",\n".join(f"  {json.dumps(_to_wire(each))}" for each in somewhere)
    return f'{{"accesses": [\n{lines}\n]}}\n' if lines else '{"accesses": []}\n'


def read_recording(text: str, origin: str) -> list[RecordedAccess]:
    """Read the text of a file with a recording.

    Raises:
        RbacError: the text is not a recording; the message begins with ``origin``, the name of the file.
    """
    try:
        return [_read(each) for each in json.loads(text)["accesses"]]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        why = f"{type(error).__name__}: {error}"
        raise RbacError(f"{origin} is not a recording written by pytest --rbac-record: {why}") from error


def _to_wire(asked: RecordedAccess) -> dict[str, Any]:
    access = asked.access
    what: dict[str, Any] = {"verb": access.verb}
    if access.is_resource:
        what |= {"group": access.group, "resource": access.shown_resource, "namespaced": bool(access.namespace)}
    else:
        what |= {"path": access.path}
    if asked.names != {""} and len(asked.names) <= MANY_NAMES:
        what["names"] = sorted(asked.names)
    return what | {"times": asked.times, "refused": asked.refused, "firstBy": asked.first_by}


def _read(wire: Mapping[str, Any]) -> RecordedAccess:
    if "path" in wire:
        access = Access(str(wire["verb"]), path=str(wire["path"]), is_resource=False)
    else:
        resource, _, subresource = str(wire["resource"]).partition("/")
        namespace = ANY_NAMESPACE if wire["namespaced"] else ""
        access = Access(str(wire["verb"]), str(wire["group"]), resource, subresource, namespace)
    return RecordedAccess(
        access=access,
        names=frozenset(map(str, wire.get("names") or [""])),
        times=int(wire.get("times", 1)),
        refused=int(wire.get("refused", 0)),
        first_by=str(wire.get("firstBy", "")),
    )
