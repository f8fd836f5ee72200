# Written by tools/generate_kinds.py from pyctrl/_schemas; change the generator, not this file.
"""The kinds of networking/v1 and their parts."""

from pydantic import Field

from pyctrl.api import Condition, IntOrString
from pyctrl.kinds._builtin import Kind, Part
from pyctrl.kinds.core.v1 import TypedLocalObjectReference
from pyctrl.kinds.meta.v1 import LabelSelector

__all__ = [
    "HTTPIngressPath",
    "HTTPIngressRuleValue",
    "IPAddress",
    "IPAddressSpec",
    "IPBlock",
    "Ingress",
    "IngressBackend",
    "IngressClass",
    "IngressClassParametersReference",
    "IngressClassSpec",
    "IngressLoadBalancerIngress",
    "IngressLoadBalancerStatus",
    "IngressPortStatus",
    "IngressRule",
    "IngressServiceBackend",
    "IngressSpec",
    "IngressStatus",
    "IngressTLS",
    "NetworkPolicy",
    "NetworkPolicyEgressRule",
    "NetworkPolicyIngressRule",
    "NetworkPolicyPeer",
    "NetworkPolicyPort",
    "NetworkPolicySpec",
    "ParentReference",
    "ServiceBackendPort",
    "ServiceCIDR",
    "ServiceCIDRSpec",
    "ServiceCIDRStatus",
]


class ServiceBackendPort(Part):
    """`port` of IngressServiceBackend."""

    name: str | None = None
    number: int | None = None


class IngressServiceBackend(Part):
    """`service` of IngressBackend."""

    name: str = ""
    port: ServiceBackendPort = Field(default_factory=ServiceBackendPort)


class IngressBackend(Part):
    """`backend` of HTTPIngressPath, `default_backend` of IngressSpec."""

    resource: TypedLocalObjectReference | None = None
    service: IngressServiceBackend | None = None


class HTTPIngressPath(Part):
    """`paths` of HTTPIngressRuleValue."""

    backend: IngressBackend = Field(default_factory=IngressBackend)
    path: str | None = None
    path_type: str = ""


class HTTPIngressRuleValue(Part):
    """`http` of IngressRule."""

    paths: list[HTTPIngressPath] = Field(default_factory=list)


class ParentReference(Part):
    """`parent_ref` of IPAddressSpec."""

    group: str | None = None
    name: str = ""
    namespace: str | None = None
    resource: str = ""


class IPAddressSpec(Part):
    """`spec` of IPAddress."""

    parent_ref: ParentReference = Field(default_factory=ParentReference)


class IPAddress(
    Kind, group="networking.k8s.io", version="v1", plural="ipaddresses", scope="Cluster", short_names=("ip",)
):
    """IPAddress of networking.k8s.io/v1."""

    spec: IPAddressSpec = Field(default_factory=IPAddressSpec)


class IPBlock(Part):
    """`ip_block` of NetworkPolicyPeer."""

    cidr: str = ""
    except_: list[str] = Field(default_factory=list, validation_alias="except", serialization_alias="except")


class IngressRule(Part):
    """`rules` of IngressSpec."""

    host: str | None = None
    http: HTTPIngressRuleValue | None = None


class IngressTLS(Part):
    """`tls` of IngressSpec."""

    hosts: list[str] = Field(default_factory=list)
    secret_name: str | None = None


class IngressSpec(Part):
    """`spec` of Ingress."""

    default_backend: IngressBackend | None = None
    ingress_class_name: str | None = None
    rules: list[IngressRule] = Field(default_factory=list)
    tls: list[IngressTLS] = Field(default_factory=list)


class IngressPortStatus(Part):
    """`ports` of IngressLoadBalancerIngress."""

    error: str | None = None
    port: int = 0
    protocol: str = ""


class IngressLoadBalancerIngress(Part):
    """`ingress` of IngressLoadBalancerStatus."""

    hostname: str | None = None
    ip: str | None = None
    ports: list[IngressPortStatus] = Field(default_factory=list)


class IngressLoadBalancerStatus(Part):
    """`load_balancer` of IngressStatus."""

    ingress: list[IngressLoadBalancerIngress] = Field(default_factory=list)


class IngressStatus(Part):
    """`status` of Ingress."""

    load_balancer: IngressLoadBalancerStatus = Field(default_factory=IngressLoadBalancerStatus)


class Ingress(
    Kind, group="networking.k8s.io", version="v1", plural="ingresses", short_names=("ing",), subresources=("status",)
):
    """Ingress of networking.k8s.io/v1."""

    spec: IngressSpec = Field(default_factory=IngressSpec)
    status: IngressStatus = Field(default_factory=IngressStatus)


class IngressClassParametersReference(Part):
    """`parameters` of IngressClassSpec."""

    api_group: str | None = None
    kind: str = ""
    name: str = ""
    namespace: str | None = None
    scope: str | None = None


class IngressClassSpec(Part):
    """`spec` of IngressClass."""

    controller: str | None = None
    parameters: IngressClassParametersReference | None = None


class IngressClass(Kind, group="networking.k8s.io", version="v1", plural="ingressclasses", scope="Cluster"):
    """IngressClass of networking.k8s.io/v1."""

    spec: IngressClassSpec = Field(default_factory=IngressClassSpec)


class NetworkPolicyPeer(Part):
    """`to` of NetworkPolicyEgressRule, `from_` of NetworkPolicyIngressRule."""

    ip_block: IPBlock | None = None
    namespace_selector: LabelSelector | None = None
    pod_selector: LabelSelector | None = None


class NetworkPolicyPort(Part):
    """`ports` of NetworkPolicyEgressRule, `ports` of NetworkPolicyIngressRule."""

    end_port: int | None = None
    port: IntOrString | None = None
    protocol: str | None = None


class NetworkPolicyEgressRule(Part):
    """`egress` of NetworkPolicySpec."""

    ports: list[NetworkPolicyPort] = Field(default_factory=list)
    to: list[NetworkPolicyPeer] = Field(default_factory=list)


class NetworkPolicyIngressRule(Part):
    """`ingress` of NetworkPolicySpec."""

    from_: list[NetworkPolicyPeer] = Field(default_factory=list, validation_alias="from", serialization_alias="from")
    ports: list[NetworkPolicyPort] = Field(default_factory=list)


class NetworkPolicySpec(Part):
    """`spec` of NetworkPolicy."""

    egress: list[NetworkPolicyEgressRule] = Field(default_factory=list)
    ingress: list[NetworkPolicyIngressRule] = Field(default_factory=list)
    pod_selector: LabelSelector = Field(default_factory=LabelSelector)
    policy_types: list[str] = Field(default_factory=list)


class NetworkPolicy(Kind, group="networking.k8s.io", version="v1", plural="networkpolicies", short_names=("netpol",)):
    """NetworkPolicy of networking.k8s.io/v1."""

    spec: NetworkPolicySpec = Field(default_factory=NetworkPolicySpec)


class ServiceCIDRSpec(Part):
    """`spec` of ServiceCIDR."""

    cidrs: list[str] = Field(default_factory=list)


class ServiceCIDRStatus(Part):
    """`status` of ServiceCIDR."""

    conditions: list[Condition] = Field(default_factory=list)


class ServiceCIDR(
    Kind, group="networking.k8s.io", version="v1", plural="servicecidrs", scope="Cluster", subresources=("status",)
):
    """ServiceCIDR of networking.k8s.io/v1."""

    spec: ServiceCIDRSpec = Field(default_factory=ServiceCIDRSpec)
    status: ServiceCIDRStatus = Field(default_factory=ServiceCIDRStatus)
