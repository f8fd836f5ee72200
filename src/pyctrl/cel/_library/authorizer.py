"""Kubernetes' authorizer library: authorization checks for the user of a request."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

from pyctrl.cel._signatures import Table

__all__ = ["AUTHORIZATION", "AuthorizerAttributes", "AuthorizerDecision", "AuthorizerValue", "ResourceCheck"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizerAttributes:
    """The attributes of an authorization check: of a resource or, with `path`, of a non-resource URL."""

    verb: str = ""
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""
    field_selector: str = ""
    label_selector: str = ""
    service_account: tuple[str, str] | None = None  # namespace and name; None for the user of the request


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizerDecision:
    """The decision of an authorizer."""

    TYPE: ClassVar[str] = "kubernetes.authorization.Decision"
    allowed: bool
    reason: str = ""
    error: str = ""


class Decide(Protocol):
    """The authorizer behind the variable `authorizer`."""

    def __call__(self, access: AuthorizerAttributes, /) -> AuthorizerDecision:
        """Decide whether the user of the request has the access."""


@dataclass(frozen=True, slots=True)
class AuthorizerValue:
    """The value of the variable `authorizer`."""

    TYPE: ClassVar[str] = "kubernetes.authorization.Authorizer"
    decide: Decide
    access: AuthorizerAttributes = AuthorizerAttributes()


@dataclass(frozen=True, slots=True)
class PathCheck:
    """The value of `authorizer.path(...)`."""

    TYPE: ClassVar[str] = "kubernetes.authorization.PathCheck"
    decide: Decide
    access: AuthorizerAttributes


@dataclass(frozen=True, slots=True)
class GroupCheck:
    """The value of `authorizer.group(...)`."""

    TYPE: ClassVar[str] = "kubernetes.authorization.GroupCheck"
    decide: Decide
    access: AuthorizerAttributes


@dataclass(frozen=True, slots=True)
class ResourceCheck:
    """The value of `authorizer.group(...).resource(...)` and of the variable `authorizer.requestResource`."""

    TYPE: ClassVar[str] = "kubernetes.authorization.ResourceCheck"
    decide: Decide
    access: AuthorizerAttributes


def _path(authorizer: AuthorizerValue, path: str) -> PathCheck:
    return PathCheck(authorizer.decide, replace(authorizer.access, path=path))


def _group(authorizer: AuthorizerValue, group: str) -> GroupCheck:
    return GroupCheck(authorizer.decide, replace(authorizer.access, group=group))


def _service_account(authorizer: AuthorizerValue, namespace: str, name: str) -> AuthorizerValue:
    return AuthorizerValue(authorizer.decide, replace(authorizer.access, service_account=(namespace, name)))


def _resource(check: GroupCheck, resource: str) -> ResourceCheck:
    return ResourceCheck(check.decide, replace(check.access, resource=resource))


def _with(field: str) -> tuple[str, object]:
    def run(check: ResourceCheck, value: str) -> ResourceCheck:
        return ResourceCheck(check.decide, replace(check.access, **{field: value}))  # type: ignore[arg-type]  # all texts

    return f"{ResourceCheck.TYPE}.(string) -> {ResourceCheck.TYPE}", run


def _check(check: PathCheck | ResourceCheck, verb: str) -> AuthorizerDecision:
    return check.decide(replace(check.access, verb=verb))


AUTHORIZATION: Table = {
    "path": [(f"{AuthorizerValue.TYPE}.(string) -> {PathCheck.TYPE}", _path)],
    "group": [(f"{AuthorizerValue.TYPE}.(string) -> {GroupCheck.TYPE}", _group)],
    "serviceAccount": [(f"{AuthorizerValue.TYPE}.(string, string) -> {AuthorizerValue.TYPE}", _service_account)],
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
        (f"{PathCheck.TYPE}.(string) -> {AuthorizerDecision.TYPE}", _check),
        (f"{ResourceCheck.TYPE}.(string) -> {AuthorizerDecision.TYPE}", _check),
    ],
    "allowed": [(f"{AuthorizerDecision.TYPE}.() -> bool", lambda decision: decision.allowed)],
    "reason": [(f"{AuthorizerDecision.TYPE}.() -> string", lambda decision: decision.reason)],
    "errored": [(f"{AuthorizerDecision.TYPE}.() -> bool", lambda decision: bool(decision.error))],
    "error": [(f"{AuthorizerDecision.TYPE}.() -> string", lambda decision: decision.error)],
}
