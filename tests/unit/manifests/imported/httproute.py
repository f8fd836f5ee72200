"""Classes of httproutes.gateway.networking.k8s.io.

Written by `pyctrl crd import` from the definition.
"""

from typing import Annotated, Literal

from pyctrl.api import (
    AGE,
    Condition,
    CustomResource,
    Int32,
    ListType,
    Model,
    PrinterColumn,
    Required,
    ServerDefault,
    ValidationRule,
)
from pydantic import Field

__all__ = [
    "HTTPRouteAdd",
    "HTTPRouteBackendRef",
    "HTTPRouteFilter",
    "HTTPRouteHeader",
    "HTTPRouteMatch",
    "HTTPRouteParent",
    "HTTPRouteParentRef",
    "HTTPRoutePath",
    "HTTPRouteRequestHeaderModifier",
    "HTTPRouteRequestRedirect",
    "HTTPRouteRule",
    "HTTPRouteSpec",
    "HTTPRouteStatus",
    "HTTPRouteTimeouts",
    "HTTPRouteV1",
    "HTTPRouteV1Beta1",
]


class HTTPRouteParentRef(Model):
    name: str = Field(min_length=1, max_length=253)
    group: str = Field(
        default="gateway.networking.k8s.io",
        max_length=253,
        pattern="^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
    )
    kind: str = Field(default="Gateway", min_length=1, max_length=63, pattern="^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$")
    namespace: str | None = Field(default=None, min_length=1, max_length=63)
    port: Int32 | None = Field(default=None, ge=1, le=65535)
    section_name: str | None = Field(default=None, min_length=1, max_length=253)


class HTTPRouteAdd(Model):
    name: str = Field(min_length=1, max_length=256, pattern="^[A-Za-z0-9!#$%&'*+\\-.^_\\x60|~]+$")
    value: str = Field(min_length=1, max_length=4096)


class HTTPRouteRequestHeaderModifier(Model):
    add: Annotated[list[HTTPRouteAdd], ListType("map", keys=("name",))] = Field(default_factory=list, max_length=16)
    remove: Annotated[list[str], ListType("set")] = Field(default_factory=list, max_length=16)
    set: Annotated[list[HTTPRouteAdd], ListType("map", keys=("name",))] = Field(default_factory=list, max_length=16)


class HTTPRouteRequestRedirect(Model):
    hostname: str | None = None
    port: Int32 | None = Field(default=None, ge=1, le=65535)
    scheme: Literal["http", "https"] | None = None
    status_code: Literal[301, 302] = 302


class HTTPRouteFilter(
    Model,
    marks=(
        ValidationRule(
            "!(has(self.requestRedirect) && self.type != 'RequestRedirect')",
            message="filter.requestRedirect must be nil if the filter.type is not RequestRedirect",
        ),
    ),
):
    type: Literal["RequestHeaderModifier", "ResponseHeaderModifier", "RequestRedirect"]
    request_header_modifier: HTTPRouteRequestHeaderModifier | None = None
    request_redirect: HTTPRouteRequestRedirect | None = None
    response_header_modifier: HTTPRouteRequestHeaderModifier | None = None


class HTTPRouteBackendRef(
    Model,
    marks=(
        ValidationRule(
            "(size(self.group) == 0 && self.kind == 'Service') ? has(self.port) : true",
            message="Must have port for Service reference",
        ),
    ),
):
    name: str
    filters: list[HTTPRouteFilter] = Field(default_factory=list, max_length=16)
    group: Annotated[str | None, ServerDefault("")] = None
    kind: str = "Service"
    port: Int32 | None = None
    weight: Int32 = Field(default=1, ge=0, le=1000000)


class HTTPRouteHeader(Model):
    name: str
    value: str = Field(min_length=1, max_length=4096)
    type: Literal["Exact", "RegularExpression"] = "Exact"


class HTTPRoutePath(Model):
    type: Literal["Exact", "PathPrefix", "RegularExpression"] = "PathPrefix"
    value: str = Field(default="/", max_length=1024)


class HTTPRouteMatch(Model):
    headers: Annotated[
        list[HTTPRouteHeader],
        ListType("map", keys=("name",)),
    ] = Field(default_factory=list, max_length=16)
    method: Literal["GET", "HEAD", "POST", "PUT", "DELETE"] | None = None
    path: Annotated[HTTPRoutePath | None, ServerDefault({"type": "PathPrefix", "value": "/"})] = None


class HTTPRouteTimeouts(Model):
    backend_request: str | None = Field(default=None, pattern="^([0-9]{1,5}(h|m|s|ms)){1,4}$")
    request: str | None = Field(default=None, pattern="^([0-9]{1,5}(h|m|s|ms)){1,4}$")


class HTTPRouteRule(Model):
    """A rule is for the requests that it matches."""

    backend_refs: list[HTTPRouteBackendRef] = Field(default_factory=list, max_length=16)

    filters: list[HTTPRouteFilter] = Field(default_factory=list, max_length=16)

    matches: Annotated[
        list[HTTPRouteMatch],
        ServerDefault([{"path": {"type": "PathPrefix", "value": "/"}}]),
    ] = Field(default_factory=list, max_length=64)

    name: str | None = Field(default=None, min_length=1, max_length=253)

    timeouts: HTTPRouteTimeouts | None = None


class HTTPRouteSpec(Model):
    hostnames: list[
        Annotated[
            str,
            Field(
                min_length=1,
                max_length=253,
                pattern="^(\\*\\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
            ),
        ]
    ] = Field(default_factory=list, max_length=16)
    parent_refs: list[HTTPRouteParentRef] = Field(default_factory=list, max_length=32)
    rules: Annotated[
        list[HTTPRouteRule],
        ValidationRule(
            "self.all(l1, !has(l1.name) || self.exists_one(l2, has(l2.name) && l1.name == l2.name))",
            message="Rule name must be unique within the route",
        ),
        ServerDefault([{"matches": [{"path": {"type": "PathPrefix", "value": "/"}}]}]),
    ] = Field(default_factory=list, min_length=1, max_length=16)


class HTTPRouteParent(Model):
    controller_name: str = Field(min_length=1, max_length=253)
    parent_ref: HTTPRouteParentRef
    conditions: Annotated[
        list[Condition],
        ListType("map", keys=("type",)),
    ] = Field(default_factory=list, min_length=1, max_length=8)


class HTTPRouteStatus(Model):
    parents: Annotated[list[HTTPRouteParent], Required()] = Field(default_factory=list, max_length=32)


class HTTPRouteV1(
    CustomResource[HTTPRouteSpec, HTTPRouteStatus],
    group="gateway.networking.k8s.io",
    version="v1",
    kind="HTTPRoute",
    categories=("gateway-api",),
    columns=(PrinterColumn("Hostnames", ".spec.hostnames", type="string"), AGE),
    stored=True,
    annotations={"api-approved.kubernetes.io": "https://github.com/kubernetes-sigs/gateway-api/pull/3328"},
):
    """An HTTPRoute says which requests go where."""

    spec: HTTPRouteSpec


class HTTPRouteV1Beta1(
    CustomResource[HTTPRouteSpec, HTTPRouteStatus],
    group="gateway.networking.k8s.io",
    version="v1beta1",
    kind="HTTPRoute",
    categories=("gateway-api",),
    deprecated="use v1",
    annotations={"api-approved.kubernetes.io": "https://github.com/kubernetes-sigs/gateway-api/pull/3328"},
):
    """An HTTPRoute says which requests go where."""

    spec: HTTPRouteSpec
