# Written by tools/generate_kinds.py from pyctrl/_schemas; change the generator, not this file.
"""The kinds of discovery/v1 and their parts."""

from pydantic import Field

from pyctrl.kinds._builtin import Kind, Part
from pyctrl.kinds.core.v1 import ObjectReference

__all__ = ["Endpoint", "EndpointConditions", "EndpointHints", "EndpointPort", "EndpointSlice", "ForNode", "ForZone"]


class EndpointConditions(Part):
    """`conditions` of Endpoint."""

    ready: bool | None = None
    serving: bool | None = None
    terminating: bool | None = None


class ForNode(Part):
    """`for_nodes` of EndpointHints."""

    name: str = ""


class ForZone(Part):
    """`for_zones` of EndpointHints."""

    name: str = ""


class EndpointHints(Part):
    """`hints` of Endpoint."""

    for_nodes: list[ForNode] = Field(default_factory=list)
    for_zones: list[ForZone] = Field(default_factory=list)


class Endpoint(Part):
    """`endpoints` of EndpointSlice."""

    addresses: list[str] = Field(default_factory=list)
    conditions: EndpointConditions = Field(default_factory=EndpointConditions)
    deprecated_topology: dict[str, str] = Field(default_factory=dict)
    hints: EndpointHints | None = None
    hostname: str | None = None
    node_name: str | None = None
    target_ref: ObjectReference | None = None
    zone: str | None = None


class EndpointPort(Part):
    """`ports` of EndpointSlice."""

    app_protocol: str | None = None
    name: str | None = None
    port: int | None = None
    protocol: str | None = None


class EndpointSlice(Kind, group="discovery.k8s.io", version="v1", plural="endpointslices"):
    """EndpointSlice of discovery.k8s.io/v1."""

    address_type: str = ""
    endpoints: list[Endpoint] = Field(default_factory=list)
    ports: list[EndpointPort] = Field(default_factory=list)
