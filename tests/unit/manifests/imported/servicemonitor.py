"""Classes of servicemonitors.monitoring.coreos.com.

Written by `pyctrl crd import` from the definition.
"""

from typing import Annotated, Literal

from pyctrl.api import CustomResource, Int64, IntOrString, ListType, Model
from pyctrl.kinds.core.v1 import SecretKeySelector
from pyctrl.kinds.meta.v1 import LabelSelector
from pydantic import Field

__all__ = [
    "ServiceMonitor",
    "ServiceMonitorAttachMetadata",
    "ServiceMonitorAuthorization",
    "ServiceMonitorBasicAuth",
    "ServiceMonitorCa",
    "ServiceMonitorEndpoint",
    "ServiceMonitorMetricRelabeling",
    "ServiceMonitorNamespaceSelector",
    "ServiceMonitorSpec",
    "ServiceMonitorTlsConfig",
]


class ServiceMonitorAuthorization(Model):
    credentials: SecretKeySelector | None = None
    """A key of a secret."""

    type: str | None = None


class ServiceMonitorBasicAuth(Model):
    password: SecretKeySelector | None = None
    """A key of a secret."""

    username: SecretKeySelector | None = None
    """A key of a secret."""


class ServiceMonitorMetricRelabeling(Model):
    action: Literal[
        "replace",
        "Replace",
        "keep",
        "Keep",
        "drop",
        "Drop",
        "hashmod",
        "HashMod",
        "labelmap",
        "LabelMap",
        "labeldrop",
        "LabelDrop",
    ] = "replace"
    modulus: Int64 | None = None
    regex: str | None = None
    replacement: str | None = None
    separator: str | None = None
    source_labels: list[Annotated[str, Field(pattern="^[a-zA-Z_][a-zA-Z0-9_]*$")]] = Field(default_factory=list)
    target_label: str | None = None


class ServiceMonitorCa(Model):
    config_map: SecretKeySelector | None = None

    secret: SecretKeySelector | None = None
    """A key of a secret."""


class ServiceMonitorTlsConfig(Model):
    ca: ServiceMonitorCa | None = None
    insecure_skip_verify: bool | None = None

    key_secret: SecretKeySelector | None = None
    """A key of a secret."""

    min_version: Literal["TLS10", "TLS11", "TLS12", "TLS13"] | None = None
    server_name: str | None = None


class ServiceMonitorEndpoint(Model):
    authorization: ServiceMonitorAuthorization | None = None
    basic_auth: ServiceMonitorBasicAuth | None = None
    filter_running: bool | None = None
    follow_redirects: bool | None = None
    honor_labels: bool | None = None
    interval: str | None = Field(
        default=None,
        pattern="^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$",
    )
    metric_relabelings: list[ServiceMonitorMetricRelabeling] = Field(default_factory=list)
    params: dict[str, list[str]] = Field(default_factory=dict)
    path: str | None = None
    port: str | None = None
    relabelings: list[ServiceMonitorMetricRelabeling] = Field(default_factory=list)
    scheme: Literal["http", "https"] | None = None
    target_port: IntOrString | None = None
    tls_config: ServiceMonitorTlsConfig | None = None


class ServiceMonitorAttachMetadata(Model):
    node: bool | None = None


class ServiceMonitorNamespaceSelector(Model):
    any: bool | None = None
    match_names: list[str] = Field(default_factory=list)


class ServiceMonitorSpec(Model):
    endpoints: list[ServiceMonitorEndpoint]
    """Where the services answer."""

    selector: LabelSelector
    attach_metadata: ServiceMonitorAttachMetadata | None = None
    body_size_limit: str | None = Field(default=None, pattern="(^0|([0-9]*[.])?[0-9]+((K|M|G|T|E|P)i?)?B)$")
    job_label: str | None = None
    label_limit: Int64 | None = None
    namespace_selector: ServiceMonitorNamespaceSelector | None = None
    scrape_protocols: Annotated[
        list[Literal["PrometheusProto", "OpenMetricsText0.0.1", "OpenMetricsText1.0.0", "PrometheusText0.0.4"]],
        ListType("set"),
    ] = Field(default_factory=list, min_length=1)
    target_labels: list[str] = Field(default_factory=list)


class ServiceMonitor(
    CustomResource[ServiceMonitorSpec],
    group="monitoring.coreos.com",
    version="v1",
    short_names=("smon",),
    categories=("prometheus-operator",),
    subresources=(),
):
    """A ServiceMonitor says which services are scraped, and how."""
