"""Priority and fairness: the FlowSchema and the priority level of a request, in the headers of its response.

Requests are classified as in kube-apiserver (k8s.io/apiserver, pkg/util/flowcontrol/rule.go), but none has to wait.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, TypeAlias

import msgspec

from pyctrl.api import Access
from pyctrl.apiserver._authn import User
from pyctrl.apiserver._request.request_context import RequestContext, is_long_running
from pyctrl.apiserver._storage.storage import Storage, WatchCacheEvent

__all__ = ["PriorityAndFairness", "matches_rule"]

_GROUP: Final = "flowcontrol.apiserver.k8s.io"
_ACCOUNT: Final = "system:serviceaccount:"
_REMEMBERED: Final = 4096  # classifications
_Rule: TypeAlias = Mapping[str, Any]
_Headers: TypeAlias = tuple[tuple[str, str], ...]


class _FlowSchema(msgspec.Struct, frozen=True, eq=False):
    """A FlowSchema whose priority level exists."""

    order: tuple[int, str]
    rules: Sequence[_Rule]
    headers: _Headers


class PriorityAndFairness:
    """Classifies requests by the FlowSchemas in the storage."""

    def __init__(self, storage: Storage) -> None:
        self._schemas = storage.collection(_GROUP, "flowschemas")
        self._levels = storage.collection(_GROUP, "prioritylevelconfigurations")
        self._read: list[_FlowSchema] | None = None
        self._found: dict[tuple[Any, ...], _Headers] = {}
        for each in (self._schemas, self._levels):
            each.listen(self._observe)

    def headers(self, context: RequestContext) -> _Headers:
        """Return the headers of the response; none before authentication, and none of streams other than watches."""
        user = context.impersonated_user
        if user is None:
            return ()
        access = context.access
        if is_long_running(context) and access.verb != "watch":
            return ()
        key = (user.name, tuple(user.groups), access._replace(name=""))
        if (found := self._found.get(key)) is None:
            if len(self._found) >= _REMEMBERED:
                self._found.clear()
            found = self._found[key] = self._classify(user, access)
        return found

    def _observe(self, event: WatchCacheEvent) -> None:
        self._read = None
        self._found.clear()

    def _classify(self, user: User, access: Access) -> _Headers:
        if self._read is None:
            self._read = self._flow_schemas()
        matching = (each for each in self._read if any(matches_rule(rule, user, access) for rule in each.rules))
        return next((each.headers for each in matching), ())

    def _flow_schemas(self) -> list[_FlowSchema]:
        """Return the FlowSchemas in the order in which they are matched."""
        found = []
        for stored in self._schemas.current(""):
            spec = stored.decode().get("spec") or {}
            level = self._levels.find("", (spec.get("priorityLevelConfiguration") or {}).get("name", ""))
            if level is not None:
                headers = (
                    ("X-Kubernetes-PF-FlowSchema-UID", stored.uid),
                    ("X-Kubernetes-PF-PriorityLevel-UID", level.uid),
                )
                order = spec.get("matchingPrecedence", 0), stored.name
                found.append(_FlowSchema(order=order, rules=spec.get("rules") or (), headers=headers))
        return sorted(found, key=lambda each: each.order)


# -- rules -------------------------------------------------------------------------------------------------------


def matches_rule(rule: _Rule, user: User, access: Access) -> bool:
    """Return whether a rule of a FlowSchema matches a request of a user."""
    if not any(_is_subject(each, user) for each in rule.get("subjects") or ()):
        return False
    if access.is_resource:
        return any(_matches_resource(each, access) for each in rule.get("resourceRules") or ())
    return any(_matches_path(each, access) for each in rule.get("nonResourceRules") or ())


def _is_subject(subject: _Rule, user: User) -> bool:
    kind = subject.get("kind")
    if kind == "User":
        return (subject.get("user") or {}).get("name") in ("*", user.name)
    if kind == "Group":
        name = (subject.get("group") or {}).get("name")
        return name == "*" or name in user.groups
    account = subject.get("serviceAccount") or {}
    prefix = f"{_ACCOUNT}{account.get('namespace', '')}:"
    return kind == "ServiceAccount" and (
        user.name.startswith(prefix) if account.get("name") == "*" else user.name == f"{prefix}{account.get('name')}"
    )


def _matches_resource(rule: _Rule, access: Access) -> bool:
    resource = f"{access.resource}/{access.subresource}" if access.subresource else access.resource
    if not (
        _has(rule.get("verbs"), access.verb)
        and _has(rule.get("resources"), resource)
        and _has(rule.get("apiGroups"), access.group)
    ):
        return False
    return _has(rule.get("namespaces"), access.namespace) if access.namespace else bool(rule.get("clusterScope"))


def _matches_path(rule: _Rule, access: Access) -> bool:
    if not _has(rule.get("verbs"), access.verb):
        return False
    paths = rule.get("nonResourceURLs") or ()
    return any(
        each in ("*", access.path) or access.path.startswith(f"{each.removesuffix('*').removesuffix('/')}/")
        for each in paths
    )


def _has(values: Collection[str] | None, value: str) -> bool:
    return values is not None and (value in values or list(values) == ["*"])
