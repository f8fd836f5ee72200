"""Kubernetes' `authorizer`: expressions that ask whether the user of a request may do something else."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

from pyctrl.apiserver._cel._signatures import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What an expression asks for: a resource, or with `path` one that is none."""

    verb: str = ""
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""
    field_selector: str = ""
    label_selector: str = ""
    service_account: tuple[str, str] | None = None  # namespace and name, when not the user of the request is meant


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the authorizer says."""

    TYPE: ClassVar[str] = "kubernetes.authorization.Decision"
    allowed: bool
    reason: str = ""
    error: str = ""


class Decider(Protocol):
    """Who decides: what the variable `authorizer` is made from."""

    def __call__(self, access: Access, /) -> Decision:
        """Say whether the user of the request has the access."""


@dataclass(frozen=True, slots=True)
class Authorizer:
    """The value of the variable `authorizer`."""

    TYPE: ClassVar[str] = "kubernetes.authorization.Authorizer"
    decide: Decider
    access: Access = Access()


@dataclass(frozen=True, slots=True)
class PathCheck:
    """`authorizer.path(...)`."""

    TYPE: ClassVar[str] = "kubernetes.authorization.PathCheck"
    decide: Decider
    access: Access


@dataclass(frozen=True, slots=True)
class GroupCheck:
    """`authorizer.group(...)`."""

    TYPE: ClassVar[str] = "kubernetes.authorization.GroupCheck"
    decide: Decider
    access: Access


@dataclass(frozen=True, slots=True)
class ResourceCheck:
    """`authorizer.group(...).resource(...)`, and the variable `authorizer.requestResource`."""

    TYPE: ClassVar[str] = "kubernetes.authorization.ResourceCheck"
    decide: Decider
    access: Access


def _path(who: Authorizer, path: str) -> PathCheck:
    return PathCheck(who.decide, replace(who.access, path=path))


def _group(who: Authorizer, group: str) -> GroupCheck:
    return GroupCheck(who.decide, replace(who.access, group=group))


def _service_account(who: Authorizer, namespace: str, name: str) -> Authorizer:
    return Authorizer(who.decide, replace(who.access, service_account=(namespace, name)))


def _resource(check: GroupCheck, resource: str) -> ResourceCheck:
    return ResourceCheck(check.decide, replace(check.access, resource=resource))


def _with(field: str) -> tuple[str, object]:
    def run(check: ResourceCheck, value: str) -> ResourceCheck:
        return ResourceCheck(check.decide, replace(check.access, **{field: value}))  # type: ignore[arg-type]  # all texts

    return f"{ResourceCheck.TYPE}.(string) -> {ResourceCheck.TYPE}", run


def _check(check: PathCheck | ResourceCheck, verb: str) -> Decision:
    return check.decide(replace(check.access, verb=verb))


AUTHORIZATION: Table = {
    "path": [(f"{Authorizer.TYPE}.(string) -> {PathCheck.TYPE}", _path)],
    "group": [(f"{Authorizer.TYPE}.(string) -> {GroupCheck.TYPE}", _group)],
    "serviceAccount": [(f"{Authorizer.TYPE}.(string, string) -> {Authorizer.TYPE}", _service_account)],
    "resource": [(f"{GroupCheck.TYPE}.(string) -> {ResourceCheck.TYPE}", _resource)],
    **{
        function: [_with(field)]  # type: ignore[list-item]  # a function of two values, as all are
        for function, field in {
            "subresource": "subresource",
            "namespace": "namespace",
            "name": "name",
            "fieldSelector": "field_selector",
            "labelSelector": "label_selector",
        }.items()
    },
    "check": [
        (f"{PathCheck.TYPE}.(string) -> {Decision.TYPE}", _check),
        (f"{ResourceCheck.TYPE}.(string) -> {Decision.TYPE}", _check),
    ],
    "allowed": [(f"{Decision.TYPE}.() -> bool", lambda decision: decision.allowed)],
    "reason": [(f"{Decision.TYPE}.() -> string", lambda decision: decision.reason)],
    "errored": [(f"{Decision.TYPE}.() -> bool", lambda decision: bool(decision.error))],
    "error": [(f"{Decision.TYPE}.() -> string", lambda decision: decision.error)],
}
