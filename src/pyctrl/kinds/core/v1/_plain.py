# Written by tools/generate_kinds.py from pyctrl/_schemas; change the generator, not this file.
"""Some kinds of core/v1 and their parts."""

from pydantic import Field

from pyctrl.api import Condition, IntOrString, MicroTime, Quantity, Time
from pyctrl.kinds._builtin import Kind, Part
from pyctrl.kinds.core.v1._references import LocalObjectReference, ObjectReference

__all__ = [
    "ClientIPConfig",
    "ConfigMap",
    "EndpointAddress",
    "EndpointPort",
    "EndpointSubset",
    "Endpoints",
    "Event",
    "EventSeries",
    "EventSource",
    "LimitRange",
    "LimitRangeItem",
    "LimitRangeSpec",
    "LoadBalancerIngress",
    "LoadBalancerStatus",
    "Namespace",
    "NamespaceCondition",
    "NamespaceSpec",
    "NamespaceStatus",
    "PortStatus",
    "ResourceQuota",
    "ResourceQuotaSpec",
    "ResourceQuotaStatus",
    "ScopeSelector",
    "ScopedResourceSelectorRequirement",
    "Secret",
    "Service",
    "ServiceAccount",
    "ServicePort",
    "ServiceSpec",
    "ServiceStatus",
    "SessionAffinityConfig",
]

__name__ = "pyctrl.kinds.core.v1"  # the module that the classes report


class ClientIPConfig(Part):
    """`client_ip` of SessionAffinityConfig."""

    timeout_seconds: int | None = None


class ConfigMap(Kind, group="", version="v1", plural="configmaps", short_names=("cm",)):
    """ConfigMap of v1."""

    binary_data: dict[str, str] = Field(default_factory=dict)
    data: dict[str, str] = Field(default_factory=dict)
    immutable: bool | None = None


class EndpointAddress(Part):
    """`addresses` of EndpointSubset, `not_ready_addresses` of EndpointSubset."""

    hostname: str | None = None
    ip: str = ""
    node_name: str | None = None
    target_ref: ObjectReference | None = None


class EndpointPort(Part):
    """`ports` of EndpointSubset."""

    app_protocol: str | None = None
    name: str | None = None
    port: int = 0
    protocol: str | None = None


class EndpointSubset(Part):
    """`subsets` of Endpoints."""

    addresses: list[EndpointAddress] = Field(default_factory=list)
    not_ready_addresses: list[EndpointAddress] = Field(default_factory=list)
    ports: list[EndpointPort] = Field(default_factory=list)


class Endpoints(Kind, group="", version="v1", plural="endpoints", short_names=("ep",)):
    """Endpoints of v1."""

    subsets: list[EndpointSubset] = Field(default_factory=list)


class EventSeries(Part):
    """`series` of Event."""

    count: int | None = None
    last_observed_time: MicroTime | None = None


class EventSource(Part):
    """`deprecated_source` of Event, `source` of Event."""

    component: str | None = None
    host: str | None = None


class Event(Kind, group="", version="v1", plural="events", short_names=("ev",)):
    """Event of v1."""

    action: str | None = None
    count: int | None = None
    event_time: MicroTime | None = None
    first_timestamp: Time | None = None
    involved_object: ObjectReference = Field(default_factory=ObjectReference)
    last_timestamp: Time | None = None
    message: str | None = None
    reason: str | None = None
    related: ObjectReference | None = None
    reporting_component: str = ""
    reporting_instance: str = ""
    series: EventSeries | None = None
    source: EventSource = Field(default_factory=EventSource)
    type: str | None = None


class LimitRangeItem(Part):
    """`limits` of LimitRangeSpec."""

    default: dict[str, Quantity] = Field(default_factory=dict)
    default_request: dict[str, Quantity] = Field(default_factory=dict)
    max: dict[str, Quantity] = Field(default_factory=dict)
    max_limit_request_ratio: dict[str, Quantity] = Field(default_factory=dict)
    min: dict[str, Quantity] = Field(default_factory=dict)
    type: str = ""


class LimitRangeSpec(Part):
    """`spec` of LimitRange."""

    limits: list[LimitRangeItem] = Field(default_factory=list)


class LimitRange(Kind, group="", version="v1", plural="limitranges", short_names=("limits",)):
    """LimitRange of v1."""

    spec: LimitRangeSpec = Field(default_factory=LimitRangeSpec)


class PortStatus(Part):
    """`ports` of LoadBalancerIngress."""

    error: str | None = None
    port: int = 0
    protocol: str = ""


class LoadBalancerIngress(Part):
    """`ingress` of LoadBalancerStatus."""

    hostname: str | None = None
    ip: str | None = None
    ip_mode: str | None = None
    ports: list[PortStatus] = Field(default_factory=list)


class LoadBalancerStatus(Part):
    """`load_balancer` of ServiceStatus."""

    ingress: list[LoadBalancerIngress] = Field(default_factory=list)


class NamespaceSpec(Part):
    """`spec` of Namespace."""

    finalizers: list[str] = Field(default_factory=list)


class NamespaceCondition(Part):
    """`conditions` of NamespaceStatus."""

    last_transition_time: Time | None = None
    message: str | None = None
    reason: str | None = None
    status: str = ""
    type: str = ""


class NamespaceStatus(Part):
    """`status` of Namespace."""

    conditions: list[NamespaceCondition] = Field(default_factory=list)
    phase: str | None = None


class Namespace(
    Kind,
    group="",
    version="v1",
    plural="namespaces",
    scope="Cluster",
    short_names=("ns",),
    subresources=(
        "finalize",
        "status",
    ),
):
    """Namespace of v1."""

    spec: NamespaceSpec = Field(default_factory=NamespaceSpec)
    status: NamespaceStatus = Field(default_factory=NamespaceStatus)


class ScopedResourceSelectorRequirement(Part):
    """`match_expressions` of ScopeSelector."""

    operator: str = ""
    scope_name: str = ""
    values: list[str] = Field(default_factory=list)


class ScopeSelector(Part):
    """`scope_selector` of ResourceQuotaSpec."""

    match_expressions: list[ScopedResourceSelectorRequirement] = Field(default_factory=list)


class ResourceQuotaSpec(Part):
    """`spec` of ResourceQuota."""

    hard: dict[str, Quantity] = Field(default_factory=dict)
    scope_selector: ScopeSelector | None = None
    scopes: list[str] = Field(default_factory=list)


class ResourceQuotaStatus(Part):
    """`status` of ResourceQuota."""

    hard: dict[str, Quantity] = Field(default_factory=dict)
    used: dict[str, Quantity] = Field(default_factory=dict)


class ResourceQuota(
    Kind, group="", version="v1", plural="resourcequotas", short_names=("quota",), subresources=("status",)
):
    """ResourceQuota of v1."""

    spec: ResourceQuotaSpec = Field(default_factory=ResourceQuotaSpec)
    status: ResourceQuotaStatus = Field(default_factory=ResourceQuotaStatus)


class Secret(Kind, group="", version="v1", plural="secrets", hide_input_in_errors=True):
    """Secret of v1."""

    data: dict[str, str] = Field(default_factory=dict, repr=False)
    immutable: bool | None = None
    string_data: dict[str, str] = Field(default_factory=dict, repr=False)
    type: str | None = None


class ServicePort(Part):
    """`ports` of ServiceSpec."""

    app_protocol: str | None = None
    name: str | None = None
    node_port: int | None = None
    port: int = 0
    protocol: str = "TCP"
    target_port: IntOrString | None = None


class SessionAffinityConfig(Part):
    """`session_affinity_config` of ServiceSpec."""

    client_ip: ClientIPConfig | None = Field(default=None, validation_alias="clientIP", serialization_alias="clientIP")


class ServiceSpec(Part):
    """`spec` of Service."""

    allocate_load_balancer_node_ports: bool | None = None
    cluster_ip: str | None = Field(default=None, validation_alias="clusterIP", serialization_alias="clusterIP")
    cluster_ips: list[str] = Field(
        default_factory=list, validation_alias="clusterIPs", serialization_alias="clusterIPs"
    )
    external_ips: list[str] = Field(
        default_factory=list, validation_alias="externalIPs", serialization_alias="externalIPs"
    )
    external_name: str | None = None
    external_traffic_policy: str | None = None
    health_check_node_port: int | None = None
    internal_traffic_policy: str | None = None
    ip_families: list[str] = Field(default_factory=list)
    ip_family_policy: str | None = None
    load_balancer_class: str | None = None
    load_balancer_ip: str | None = Field(
        default=None, validation_alias="loadBalancerIP", serialization_alias="loadBalancerIP"
    )
    load_balancer_source_ranges: list[str] = Field(default_factory=list)
    ports: list[ServicePort] = Field(default_factory=list)
    publish_not_ready_addresses: bool | None = None
    selector: dict[str, str] = Field(default_factory=dict)
    session_affinity: str | None = None
    session_affinity_config: SessionAffinityConfig | None = None
    traffic_distribution: str | None = None
    type: str | None = None


class ServiceStatus(Part):
    """`status` of Service."""

    conditions: list[Condition] = Field(default_factory=list)
    load_balancer: LoadBalancerStatus = Field(default_factory=LoadBalancerStatus)


class Service(
    Kind,
    group="",
    version="v1",
    plural="services",
    short_names=("svc",),
    categories=("all",),
    subresources=(
        "proxy",
        "status",
    ),
):
    """Service of v1."""

    spec: ServiceSpec = Field(default_factory=ServiceSpec)
    status: ServiceStatus = Field(default_factory=ServiceStatus)


class ServiceAccount(
    Kind, group="", version="v1", plural="serviceaccounts", short_names=("sa",), subresources=("token",)
):
    """ServiceAccount of v1."""

    automount_service_account_token: bool | None = None
    image_pull_secrets: list[LocalObjectReference] = Field(default_factory=list)
    secrets: list[ObjectReference] = Field(default_factory=list)
