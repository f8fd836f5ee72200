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
    """ClientIPConfig represents the configurations of Client IP based session affinity."""

    timeout_seconds: int | None = None
    """timeoutSeconds specifies the seconds of ClientIP type session sticky time. The value must be >0 && <=86400(for
    1 day) if ServiceAffinity == "ClientIP". Default value is 10800(for 3 hours).
    """


class ConfigMap(Kind, group="", version="v1", plural="configmaps", short_names=("cm",)):
    """ConfigMap holds configuration data for pods to consume."""

    binary_data: dict[str, str] = Field(default_factory=dict)
    """BinaryData contains the binary data. Each key must consist of alphanumeric characters, '-', '_' or '.'.
    BinaryData can contain byte sequences that are not in the UTF-8 range. The keys stored in BinaryData must not
    overlap with the ones in the Data field, this is enforced during validation process. Using this field will
    require 1.10+ apiserver and kubelet.
    """
    data: dict[str, str] = Field(default_factory=dict)
    """Data contains the configuration data. Each key must consist of alphanumeric characters, '-', '_' or '.'.
    Values with non-UTF-8 byte sequences must use the BinaryData field. The keys stored in Data must not overlap
    with the keys in the BinaryData field, this is enforced during validation process.
    """
    immutable: bool | None = None
    """Immutable, if set to true, ensures that data stored in the ConfigMap cannot be updated (only object metadata
    can be modified). If not set to true, the field can be modified at any time. Defaulted to nil.
    """


class EndpointAddress(Part):
    """EndpointAddress is a tuple that describes single IP address. Deprecated: This API is deprecated in v1.33+."""

    hostname: str | None = None
    """The Hostname of this endpoint"""
    ip: str = ""
    """The IP of this endpoint. May not be loopback (127.0.0.0/8 or ::1), link-local (169.254.0.0/16 or fe80::/10),
    or link-local multicast (224.0.0.0/24 or ff02::/16).
    """
    node_name: str | None = None
    """Optional: Node hosting this endpoint. This can be used to determine endpoints local to a node."""
    target_ref: ObjectReference | None = None
    """Reference to object providing the endpoint."""


class EndpointPort(Part):
    """EndpointPort is a tuple that describes a single port. Deprecated: This API is deprecated in v1.33+."""

    app_protocol: str | None = None
    """The application protocol for this port. This is used as a hint for implementations to offer richer behavior
    for protocols that they understand. This field follows standard Kubernetes label syntax. Valid values are
    either:

    * Un-prefixed protocol names - reserved for IANA standard service names (as per RFC-6335 and
    https://www.iana.org/assignments/service-names).

    * Kubernetes-defined prefixed names:
      * 'kubernetes.io/h2c' - HTTP/2 prior knowledge over cleartext as described in https://www.rfc-editor.org/rfc/rfc9113.html#name-starting-http-2-with-prior-
      * 'kubernetes.io/ws'  - WebSocket over cleartext as described in https://www.rfc-editor.org/rfc/rfc6455
      * 'kubernetes.io/wss' - WebSocket over TLS as described in https://www.rfc-editor.org/rfc/rfc6455

    * Other protocols should use implementation-defined prefixed names such as mycompany.com/my-custom-protocol.
    """
    name: str | None = None
    """The name of this port.  This must match the 'name' field in the corresponding ServicePort. Must be a
    DNS_LABEL. Optional only if one port is defined.
    """
    port: int = 0
    """The port number of the endpoint."""
    protocol: str | None = None
    """The IP protocol for this port. Must be UDP, TCP, or SCTP. Default is TCP.

    Possible enum values:
     - `"SCTP"` is the SCTP protocol.
     - `"TCP"` is the TCP protocol.
     - `"UDP"` is the UDP protocol.
    """


class EndpointSubset(Part):
    """EndpointSubset is a group of addresses with a common set of ports. The expanded set of endpoints is the
    Cartesian product of Addresses x Ports. For example, given:

        {
          Addresses: [{"ip": "10.10.1.1"}, {"ip": "10.10.2.2"}],
          Ports:     [{"name": "a", "port": 8675}, {"name": "b", "port": 309}]
        }

    The resulting set of endpoints can be viewed as:

        a: [ 10.10.1.1:8675, 10.10.2.2:8675 ],
        b: [ 10.10.1.1:309, 10.10.2.2:309 ]

    Deprecated: This API is deprecated in v1.33+.
    """

    addresses: list[EndpointAddress] = Field(default_factory=list)
    """IP addresses which offer the related ports that are marked as ready. These endpoints should be considered safe
    for load balancers and clients to utilize.
    """
    not_ready_addresses: list[EndpointAddress] = Field(default_factory=list)
    """IP addresses which offer the related ports but are not currently marked as ready because they have not yet
    finished starting, have recently failed a readiness check, or have recently failed a liveness check.
    """
    ports: list[EndpointPort] = Field(default_factory=list)
    """Port numbers available on the related IP addresses."""


class Endpoints(Kind, group="", version="v1", plural="endpoints", short_names=("ep",)):
    """Endpoints is a collection of endpoints that implement the actual service. Example:

         Name: "mysvc",
         Subsets: [
           {
             Addresses: [{"ip": "10.10.1.1"}, {"ip": "10.10.2.2"}],
             Ports: [{"name": "a", "port": 8675}, {"name": "b", "port": 309}]
           },
           {
             Addresses: [{"ip": "10.10.3.3"}],
             Ports: [{"name": "a", "port": 93}, {"name": "b", "port": 76}]
           },
        ]

    Endpoints is a legacy API and does not contain information about all Service features. Use
    discoveryv1.EndpointSlice for complete information about Service endpoints.

    Deprecated: This API is deprecated in v1.33+. Use discoveryv1.EndpointSlice.
    """

    subsets: list[EndpointSubset] = Field(default_factory=list)
    """The set of all endpoints is the union of all subsets. Addresses are placed into subsets according to the IPs
    they share. A single address with multiple ports, some of which are ready and some of which are not (because
    they come from different containers) will result in the address being displayed in different subsets for the
    different ports. No address will appear in both Addresses and NotReadyAddresses in the same subset. Sets of
    addresses and ports that comprise a service.
    """


class EventSeries(Part):
    """EventSeries contain information on series of events, i.e. thing that was/is happening continuously for some
    time.
    """

    count: int | None = None
    """Number of occurrences in this series up to the last heartbeat time"""
    last_observed_time: MicroTime | None = None
    """Time of the last occurrence observed"""


class EventSource(Part):
    """EventSource contains information for an event."""

    component: str | None = None
    """Component from which the event is generated."""
    host: str | None = None
    """Node name on which the event is generated."""


class Event(Kind, group="", version="v1", plural="events", short_names=("ev",)):
    """Event is a report of an event somewhere in the cluster.  Events have a limited retention time and triggers and
    messages may evolve with time.  Event consumers should not rely on the timing of an event with a given Reason
    reflecting a consistent underlying trigger, or the continued existence of events with that Reason.  Events
    should be treated as informative, best-effort, supplemental data.
    """

    action: str | None = None
    """What action was taken/failed regarding to the Regarding object."""
    count: int | None = None
    """The number of times this event has occurred."""
    event_time: MicroTime | None = None
    """Time when this Event was first observed."""
    first_timestamp: Time | None = None
    """The time at which the event was first recorded. (Time of server receipt is in TypeMeta.)"""
    involved_object: ObjectReference = Field(default_factory=ObjectReference)
    """The object that this event is about."""
    last_timestamp: Time | None = None
    """The time at which the most recent occurrence of this event was recorded."""
    message: str | None = None
    """A human-readable description of the status of this operation."""
    reason: str | None = None
    """This should be a short, machine understandable string that gives the reason for the transition into the
    object's current status.
    """
    related: ObjectReference | None = None
    """Optional secondary object for more complex actions."""
    reporting_component: str = ""
    """Name of the controller that emitted this Event, e.g. `kubernetes.io/kubelet`."""
    reporting_instance: str = ""
    """ID of the controller instance, e.g. `kubelet-xyzf`."""
    series: EventSeries | None = None
    """Data about the Event series this event represents or nil if it's a singleton Event."""
    source: EventSource = Field(default_factory=EventSource)
    """The component reporting this event. Should be a short machine understandable string."""
    type: str | None = None
    """Type of this event (Normal, Warning), new types could be added in the future"""


class LimitRangeItem(Part):
    """LimitRangeItem defines a min/max usage limit for any resource that matches on kind."""

    default: dict[str, Quantity] = Field(default_factory=dict)
    """Default resource requirement limit value by resource name if resource limit is omitted."""
    default_request: dict[str, Quantity] = Field(default_factory=dict)
    """DefaultRequest is the default resource requirement request value by resource name if resource request is
    omitted.
    """
    max: dict[str, Quantity] = Field(default_factory=dict)
    """Max usage constraints on this kind by resource name."""
    max_limit_request_ratio: dict[str, Quantity] = Field(default_factory=dict)
    """MaxLimitRequestRatio if specified, the named resource must have a request and limit that are both non-zero
    where limit divided by request is less than or equal to the enumerated value; this represents the max burst
    for the named resource.
    """
    min: dict[str, Quantity] = Field(default_factory=dict)
    """Min usage constraints on this kind by resource name."""
    type: str = ""
    """Type of resource that this limit applies to."""


class LimitRangeSpec(Part):
    """LimitRangeSpec defines a min/max usage limit for resources that match on kind."""

    limits: list[LimitRangeItem] = Field(default_factory=list)
    """Limits is the list of LimitRangeItem objects that are enforced."""


class LimitRange(Kind, group="", version="v1", plural="limitranges", short_names=("limits",)):
    """LimitRange sets resource usage limits for each kind of resource in a Namespace."""

    spec: LimitRangeSpec = Field(default_factory=LimitRangeSpec)
    """Spec defines the limits enforced. More info:
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#spec-and-status
    """


class PortStatus(Part):
    """PortStatus represents the error condition of a service port"""

    error: str | None = None
    """Error is to record the problem with the service port The format of the error shall comply with the following
    rules: - built-in error values shall be specified in this file and those shall use
      CamelCase names
    - cloud provider specific error values must have names that comply with the
      format foo.example.com/CamelCase.
    """
    port: int = 0
    """Port is the port number of the service port of which status is recorded here"""
    protocol: str = ""
    """Protocol is the protocol of the service port of which status is recorded here The supported values are: "TCP",
    "UDP", "SCTP"

    Possible enum values:
     - `"SCTP"` is the SCTP protocol.
     - `"TCP"` is the TCP protocol.
     - `"UDP"` is the UDP protocol.
    """


class LoadBalancerIngress(Part):
    """LoadBalancerIngress represents the status of a load-balancer ingress point: traffic intended for the service
    should be sent to an ingress point.
    """

    hostname: str | None = None
    """Hostname is set for load-balancer ingress points that are DNS based (typically AWS load-balancers)"""
    ip: str | None = None
    """IP is set for load-balancer ingress points that are IP based (typically GCE or OpenStack load-balancers)"""
    ip_mode: str | None = None
    """IPMode specifies how the load-balancer IP behaves, and may only be specified when the ip field is specified.
    Setting this to "VIP" indicates that traffic is delivered to the node with the destination set to the
    load-balancer's IP and port. Setting this to "Proxy" indicates that traffic is delivered to the node or pod
    with the destination set to the node's IP and node port or the pod's IP and port. Service implementations may
    use this information to adjust traffic routing.
    """
    ports: list[PortStatus] = Field(default_factory=list)
    """Ports is a list of records of service ports If used, every port defined in the service should have an entry in
    it
    """


class LoadBalancerStatus(Part):
    """LoadBalancerStatus represents the status of a load-balancer."""

    ingress: list[LoadBalancerIngress] = Field(default_factory=list)
    """Ingress is a list containing ingress points for the load-balancer. Traffic intended for the service should be
    sent to these ingress points.
    """


class NamespaceSpec(Part):
    """NamespaceSpec describes the attributes on a Namespace."""

    finalizers: list[str] = Field(default_factory=list)
    """Finalizers is an opaque list of values that must be empty to permanently remove object from storage. More
    info: https://kubernetes.io/docs/tasks/administer-cluster/namespaces/
    """


class NamespaceCondition(Part):
    """NamespaceCondition contains details about state of namespace."""

    last_transition_time: Time | None = None
    """Last time the condition transitioned from one status to another."""
    message: str | None = None
    """Human-readable message indicating details about last transition."""
    reason: str | None = None
    """Unique, one-word, CamelCase reason for the condition's last transition."""
    status: str = ""
    """Status of the condition, one of True, False, Unknown."""
    type: str = ""
    """Type of namespace controller condition."""


class NamespaceStatus(Part):
    """NamespaceStatus is information about the current status of a Namespace."""

    conditions: list[NamespaceCondition] = Field(default_factory=list)
    """Represents the latest available observations of a namespace's current state."""
    phase: str | None = None
    """Phase is the current lifecycle phase of the namespace. More info:
    https://kubernetes.io/docs/tasks/administer-cluster/namespaces/

    Possible enum values:
     - `"Active"` means the namespace is available for use in the system
     - `"Terminating"` means the namespace is undergoing graceful termination
    """


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
    """Namespace provides a scope for Names. Use of multiple namespaces is optional."""

    spec: NamespaceSpec = Field(default_factory=NamespaceSpec)
    """Spec defines the behavior of the Namespace. More info:
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#spec-and-status
    """
    status: NamespaceStatus = Field(default_factory=NamespaceStatus)
    """Status describes the current status of a Namespace. More info:
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#spec-and-status
    """


class ScopedResourceSelectorRequirement(Part):
    """A scoped-resource selector requirement is a selector that contains values, a scope name, and an operator that
    relates the scope name and values.
    """

    operator: str = ""
    """Represents a scope's relationship to a set of values. Valid operators are In, NotIn, Exists, DoesNotExist.

    Possible enum values:
     - `"DoesNotExist"`
     - `"Exists"`
     - `"In"`
     - `"NotIn"`
    """
    scope_name: str = ""
    """The name of the scope that the selector applies to.

    Possible enum values:
     - `"BestEffort"` Match all pod objects that have best effort quality of service
     - `"CrossNamespacePodAffinity"` Match all pod objects that have cross-namespace pod (anti)affinity mentioned.
     - `"NotBestEffort"` Match all pod objects that do not have best effort quality of service
     - `"NotTerminating"` Match all pod objects where spec.activeDeadlineSeconds is nil
     - `"PriorityClass"` Match all pod objects that have priority class mentioned
     - `"Terminating"` Match all pod objects where spec.activeDeadlineSeconds >=0
     - `"VolumeAttributesClass"` Match all pvc objects that have volume attributes class mentioned.
    """
    values: list[str] = Field(default_factory=list)
    """An array of string values. If the operator is In or NotIn, the values array must be non-empty. If the operator
    is Exists or DoesNotExist, the values array must be empty. This array is replaced during a strategic merge
    patch.
    """


class ScopeSelector(Part):
    """A scope selector represents the AND of the selectors represented by the scoped-resource selector requirements."""

    match_expressions: list[ScopedResourceSelectorRequirement] = Field(default_factory=list)
    """A list of scope selector requirements by scope of the resources."""


class ResourceQuotaSpec(Part):
    """ResourceQuotaSpec defines the desired hard limits to enforce for Quota."""

    hard: dict[str, Quantity] = Field(default_factory=dict)
    """hard is the set of desired hard limits for each named resource. More info:
    https://kubernetes.io/docs/concepts/policy/resource-quotas/
    """
    scope_selector: ScopeSelector | None = None
    """scopeSelector is also a collection of filters like scopes that must match each object tracked by a quota but
    expressed using ScopeSelectorOperator in combination with possible values. For a resource to match, both
    scopes AND scopeSelector (if specified in spec), must be matched.
    """
    scopes: list[str] = Field(default_factory=list)
    """A collection of filters that must match each object tracked by a quota. If not specified, the quota matches
    all objects.
    """


class ResourceQuotaStatus(Part):
    """ResourceQuotaStatus defines the enforced hard limits and observed use."""

    hard: dict[str, Quantity] = Field(default_factory=dict)
    """Hard is the set of enforced hard limits for each named resource. More info:
    https://kubernetes.io/docs/concepts/policy/resource-quotas/
    """
    used: dict[str, Quantity] = Field(default_factory=dict)
    """Used is the current observed total usage of the resource in the namespace."""


class ResourceQuota(
    Kind, group="", version="v1", plural="resourcequotas", short_names=("quota",), subresources=("status",)
):
    """ResourceQuota sets aggregate quota restrictions enforced per namespace"""

    spec: ResourceQuotaSpec = Field(default_factory=ResourceQuotaSpec)
    """Spec defines the desired quota.
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#spec-and-status
    """
    status: ResourceQuotaStatus = Field(default_factory=ResourceQuotaStatus)
    """Status defines the actual enforced quota and its current usage.
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#spec-and-status
    """


class Secret(Kind, group="", version="v1", plural="secrets", hide_input_in_errors=True):
    """Secret holds secret data of a certain type. The total bytes of the values in the Data field must be less than
    MaxSecretSize bytes.
    """

    data: dict[str, str] = Field(default_factory=dict, repr=False)
    """Data contains the secret data. Each key must consist of alphanumeric characters, '-', '_' or '.'. The
    serialized form of the secret data is a base64 encoded string, representing the arbitrary (possibly
    non-string) data value here. Described in https://tools.ietf.org/html/rfc4648#section-4
    """
    immutable: bool | None = None
    """Immutable, if set to true, ensures that data stored in the Secret cannot be updated (only object metadata can
    be modified). If not set to true, the field can be modified at any time. Defaulted to nil.
    """
    string_data: dict[str, str] = Field(default_factory=dict, repr=False)
    """stringData allows specifying non-binary secret data in string form. It is provided as a write-only input field
    for convenience. All keys and values are merged into the data field on write, overwriting any existing values.
    The stringData field is never output when reading from the API.
    """
    type: str | None = None
    """Used to facilitate programmatic handling of secret data. More info:
    https://kubernetes.io/docs/concepts/configuration/secret/#secret-types
    """


class ServicePort(Part):
    """ServicePort contains information on service's port."""

    app_protocol: str | None = None
    """The application protocol for this port. This is used as a hint for implementations to offer richer behavior
    for protocols that they understand. This field follows standard Kubernetes label syntax. Valid values are
    either:

    * Un-prefixed protocol names - reserved for IANA standard service names (as per RFC-6335 and
    https://www.iana.org/assignments/service-names).

    * Kubernetes-defined prefixed names:
      * 'kubernetes.io/h2c' - HTTP/2 prior knowledge over cleartext as described in https://www.rfc-editor.org/rfc/rfc9113.html#name-starting-http-2-with-prior-
      * 'kubernetes.io/ws'  - WebSocket over cleartext as described in https://www.rfc-editor.org/rfc/rfc6455
      * 'kubernetes.io/wss' - WebSocket over TLS as described in https://www.rfc-editor.org/rfc/rfc6455

    * Other protocols should use implementation-defined prefixed names such as mycompany.com/my-custom-protocol.
    """
    name: str | None = None
    """The name of this port within the service. This must be a DNS_LABEL. All ports within a ServiceSpec must have
    unique names. When considering the endpoints for a Service, this must match the 'name' field in the
    EndpointPort. Optional if only one ServicePort is defined on this service.
    """
    node_port: int | None = None
    """The port on each node on which this service is exposed when type is NodePort or LoadBalancer.  Usually
    assigned by the system. If a value is specified, in-range, and not in use it will be used, otherwise the
    operation will fail.  If not specified, a port will be allocated if this Service requires one.  If this field
    is specified when creating a Service which does not need it, creation will fail. This field will be wiped when
    updating a Service to no longer need it (e.g. changing type from NodePort to ClusterIP). More info:
    https://kubernetes.io/docs/concepts/services-networking/service/#type-nodeport
    """
    port: int = 0
    """The port that will be exposed by this service."""
    protocol: str = "TCP"
    """The IP protocol for this port. Supports "TCP", "UDP", and "SCTP". Default is TCP.

    Possible enum values:
     - `"SCTP"` is the SCTP protocol.
     - `"TCP"` is the TCP protocol.
     - `"UDP"` is the UDP protocol.
    """
    target_port: IntOrString | None = None
    """Number or name of the port to access on the pods targeted by the service. Number must be in the range 1 to
    65535. Name must be an IANA_SVC_NAME. If this is a string, it will be looked up as a named port in the target
    Pod's container ports. If this is not specified, the value of the 'port' field is used (an identity map). This
    field is ignored for services with clusterIP=None, and should be omitted or set equal to the 'port' field.
    More info: https://kubernetes.io/docs/concepts/services-networking/service/#defining-a-service
    """


class SessionAffinityConfig(Part):
    """SessionAffinityConfig represents the configurations of session affinity."""

    client_ip: ClientIPConfig | None = Field(default=None, validation_alias="clientIP", serialization_alias="clientIP")
    """clientIP contains the configurations of Client IP based session affinity."""


class ServiceSpec(Part):
    """ServiceSpec describes the attributes that a user creates on a service."""

    allocate_load_balancer_node_ports: bool | None = None
    """allocateLoadBalancerNodePorts defines if NodePorts will be automatically allocated for services with type
    LoadBalancer.  Default is "true". It may be set to "false" if the cluster load-balancer does not rely on
    NodePorts.  If the caller requests specific NodePorts (by specifying a value), those requests will be
    respected, regardless of this field. This field may only be set for services with type LoadBalancer and will
    be cleared if the type is changed to any other type.
    """
    cluster_ip: str | None = Field(default=None, validation_alias="clusterIP", serialization_alias="clusterIP")
    """clusterIP is the IP address of the service and is usually assigned randomly. If an address is specified
    manually, is in-range (as per system configuration), and is not in use, it will be allocated to the service;
    otherwise creation of the service will fail. This field may not be changed through updates unless the type
    field is also being changed to ExternalName (which requires this field to be blank) or the type field is being
    changed from ExternalName (in which case this field may optionally be specified, as describe above).  Valid
    values are "None", empty string (""), or a valid IP address. Setting this to "None" makes a "headless service"
    (no virtual IP), which is useful when direct endpoint connections are preferred and proxying is not required.
    Only applies to types ClusterIP, NodePort, and LoadBalancer. If this field is specified when creating a
    Service of type ExternalName, creation will fail. This field will be wiped when updating a Service to type
    ExternalName. More info:
    https://kubernetes.io/docs/concepts/services-networking/service/#virtual-ips-and-service-proxies
    """
    cluster_ips: list[str] = Field(
        default_factory=list, validation_alias="clusterIPs", serialization_alias="clusterIPs"
    )
    """ClusterIPs is a list of IP addresses assigned to this service, and are usually assigned randomly.  If an
    address is specified manually, is in-range (as per system configuration), and is not in use, it will be
    allocated to the service; otherwise creation of the service will fail. This field may not be changed through
    updates unless the type field is also being changed to ExternalName (which requires this field to be empty) or
    the type field is being changed from ExternalName (in which case this field may optionally be specified, as
    describe above).  Valid values are "None", empty string (""), or a valid IP address.  Setting this to "None"
    makes a "headless service" (no virtual IP), which is useful when direct endpoint connections are preferred and
    proxying is not required.  Only applies to types ClusterIP, NodePort, and LoadBalancer. If this field is
    specified when creating a Service of type ExternalName, creation will fail. This field will be wiped when
    updating a Service to type ExternalName.  If this field is not specified, it will be initialized from the
    clusterIP field.  If this field is specified, clients must ensure that clusterIPs[0] and clusterIP have the
    same value.

    This field may hold a maximum of two entries (dual-stack IPs, in either order). These IPs must correspond to
    the values of the ipFamilies field. Both clusterIPs and ipFamilies are governed by the ipFamilyPolicy field.
    More info: https://kubernetes.io/docs/concepts/services-networking/service/#virtual-ips-and-service-proxies
    """
    external_ips: list[str] = Field(
        default_factory=list, validation_alias="externalIPs", serialization_alias="externalIPs"
    )
    """externalIPs is a list of IP addresses for which nodes in the cluster will also accept traffic for this
    service.  These IPs are not managed by Kubernetes.  The user is responsible for ensuring that traffic arrives
    at a node with this IP.  A common example is external load-balancers that are not part of the Kubernetes
    system.
    """
    external_name: str | None = None
    """externalName is the external reference that discovery mechanisms will return as an alias for this service
    (e.g. a DNS CNAME record). No proxying will be involved.  Must be a lowercase RFC-1123 hostname
    (https://tools.ietf.org/html/rfc1123) and requires `type` to be "ExternalName".
    """
    external_traffic_policy: str | None = None
    """externalTrafficPolicy describes how nodes distribute service traffic they receive on one of the Service's
    "externally-facing" addresses (NodePorts, ExternalIPs, and LoadBalancer IPs). If set to "Local", the proxy
    will configure the service in a way that assumes that external load balancers will take care of balancing the
    service traffic between nodes, and so each node will deliver traffic only to the node-local endpoints of the
    service, without masquerading the client source IP. (Traffic mistakenly sent to a node with no endpoints will
    be dropped.) The default value, "Cluster", uses the standard behavior of routing to all endpoints evenly
    (possibly modified by topology and other features). Note that traffic sent to an External IP or LoadBalancer
    IP from within the cluster will always get "Cluster" semantics, but clients sending to a NodePort from within
    the cluster may need to take traffic policy into account when picking a node.

    Possible enum values:
     - `"Cluster"` routes traffic to all endpoints.
     - `"Local"` preserves the source IP of the traffic by routing only to endpoints on the same node as the
       traffic was received on (dropping the traffic if there are no local endpoints).
    """
    health_check_node_port: int | None = None
    """healthCheckNodePort specifies the healthcheck nodePort for the service. This only applies when type is set to
    LoadBalancer and externalTrafficPolicy is set to Local. If a value is specified, is in-range, and is not in
    use, it will be used.  If not specified, a value will be automatically allocated.  External systems (e.g.
    load-balancers) can use this port to determine if a given node holds endpoints for this service or not.  If
    this field is specified when creating a Service which does not need it, creation will fail. This field will be
    wiped when updating a Service to no longer need it (e.g. changing type). This field cannot be updated once
    set.
    """
    internal_traffic_policy: str | None = None
    """InternalTrafficPolicy describes how nodes distribute service traffic they receive on the ClusterIP. If set to
    "Local", the proxy will assume that pods only want to talk to endpoints of the service on the same node as the
    pod, dropping the traffic if there are no local endpoints. The default value, "Cluster", uses the standard
    behavior of routing to all endpoints evenly (possibly modified by topology and other features).

    Possible enum values:
     - `"Cluster"` routes traffic to all endpoints.
     - `"Local"` routes traffic only to endpoints on the same node as the client pod (dropping the traffic if
       there are no local endpoints).
    """
    ip_families: list[str] = Field(default_factory=list)
    """IPFamilies is a list of IP families (e.g. IPv4, IPv6) assigned to this service. This field is usually assigned
    automatically based on cluster configuration and the ipFamilyPolicy field. If this field is specified
    manually, the requested family is available in the cluster, and ipFamilyPolicy allows it, it will be used;
    otherwise creation of the service will fail. This field is conditionally mutable: it allows for adding or
    removing a secondary IP family, but it does not allow changing the primary IP family of the Service. Valid
    values are "IPv4" and "IPv6".  This field only applies to Services of types ClusterIP, NodePort, and
    LoadBalancer, and does apply to "headless" services. This field will be wiped when updating a Service to type
    ExternalName.

    This field may hold a maximum of two entries (dual-stack families, in either order).  These families must
    correspond to the values of the clusterIPs field, if specified. Both clusterIPs and ipFamilies are governed by
    the ipFamilyPolicy field.
    """
    ip_family_policy: str | None = None
    """IPFamilyPolicy represents the dual-stack-ness requested or required by this Service. If there is no value
    provided, then this field will be set to SingleStack. Services can be "SingleStack" (a single IP family),
    "PreferDualStack" (two IP families on dual-stack configured clusters or a single IP family on single-stack
    clusters), or "RequireDualStack" (two IP families on dual-stack configured clusters, otherwise fail). The
    ipFamilies and clusterIPs fields depend on the value of this field. This field will be wiped when updating a
    service to type ExternalName.

    Possible enum values:
     - `"PreferDualStack"` indicates that this service prefers dual-stack when the cluster is configured for
       dual-stack. If the cluster is not configured for dual-stack the service will be assigned a single IPFamily.
       If the IPFamily is not set in service.spec.ipFamilies then the service will be assigned the default
       IPFamily configured on the cluster
     - `"RequireDualStack"` indicates that this service requires dual-stack. Using IPFamilyPolicyRequireDualStack
       on a single stack cluster will result in validation errors. The IPFamilies (and their order) assigned to
       this service is based on service.spec.ipFamilies. If service.spec.ipFamilies was not provided then it will
       be assigned according to how they are configured on the cluster. If service.spec.ipFamilies has only one
       entry then the alternative IPFamily will be added by apiserver
     - `"SingleStack"` indicates that this service is required to have a single IPFamily. The IPFamily assigned is
       based on the default IPFamily used by the cluster or as identified by service.spec.ipFamilies field
    """
    load_balancer_class: str | None = None
    """loadBalancerClass is the class of the load balancer implementation this Service belongs to. If specified, the
    value of this field must be a label-style identifier, with an optional prefix, e.g. "internal-vip" or
    "example.com/internal-vip". Unprefixed names are reserved for end-users. This field can only be set when the
    Service type is 'LoadBalancer'. If not set, the default load balancer implementation is used, today this is
    typically done through the cloud provider integration, but should apply for any default implementation. If
    set, it is assumed that a load balancer implementation is watching for Services with a matching class. Any
    default load balancer implementation (e.g. cloud providers) should ignore Services that set this field. This
    field can only be set when creating or updating a Service to type 'LoadBalancer'. Once set, it can not be
    changed. This field will be wiped when a service is updated to a non 'LoadBalancer' type.
    """
    load_balancer_ip: str | None = Field(
        default=None, validation_alias="loadBalancerIP", serialization_alias="loadBalancerIP"
    )
    """Only applies to Service Type: LoadBalancer. This feature depends on whether the underlying cloud-provider
    supports specifying the loadBalancerIP when a load balancer is created. This field will be ignored if the
    cloud-provider does not support the feature. Deprecated: This field was under-specified and its meaning varies
    across implementations. Using it is non-portable and it may not support dual-stack. Users are encouraged to
    use implementation-specific annotations when available.
    """
    load_balancer_source_ranges: list[str] = Field(default_factory=list)
    """If specified and supported by the platform, this will restrict traffic through the cloud-provider
    load-balancer will be restricted to the specified client IPs. This field will be ignored if the cloud-provider
    does not support the feature." More info:
    https://kubernetes.io/docs/tasks/access-application-cluster/create-external-load-balancer/
    """
    ports: list[ServicePort] = Field(default_factory=list)
    """The list of ports that are exposed by this service. More info:
    https://kubernetes.io/docs/concepts/services-networking/service/#virtual-ips-and-service-proxies
    """
    publish_not_ready_addresses: bool | None = None
    """publishNotReadyAddresses indicates that any agent which deals with endpoints for this Service should disregard
    any indications of ready/not-ready. The primary use case for setting this field is for a StatefulSet's
    Headless Service to propagate SRV DNS records for its Pods for the purpose of peer discovery. The Kubernetes
    controllers that generate Endpoints and EndpointSlice resources for Services interpret this to mean that all
    endpoints are considered "ready" even if the Pods themselves are not. Agents which consume only Kubernetes
    generated endpoints through the Endpoints or EndpointSlice resources can safely assume this behavior.
    """
    selector: dict[str, str] = Field(default_factory=dict)
    """Route service traffic to pods with label keys and values matching this selector. If empty or not present, the
    service is assumed to have an external process managing its endpoints, which Kubernetes will not modify. Only
    applies to types ClusterIP, NodePort, and LoadBalancer. Ignored if type is ExternalName. More info:
    https://kubernetes.io/docs/concepts/services-networking/service/
    """
    session_affinity: str | None = None
    """Supports "ClientIP" and "None". Used to maintain session affinity. Enable client IP based session affinity.
    Must be ClientIP or None. Defaults to None. More info:
    https://kubernetes.io/docs/concepts/services-networking/service/#virtual-ips-and-service-proxies

    Possible enum values:
     - `"ClientIP"` is the Client IP based.
     - `"None"` - no session affinity.
    """
    session_affinity_config: SessionAffinityConfig | None = None
    """sessionAffinityConfig contains the configurations of session affinity."""
    traffic_distribution: str | None = None
    """TrafficDistribution offers a way to express preferences for how traffic is distributed to Service endpoints.
    Implementations can use this field as a hint, but are not required to guarantee strict adherence. If the field
    is not set, the implementation will apply its default routing strategy. If set to "PreferClose",
    implementations should prioritize endpoints that are in the same zone.
    """
    type: str | None = None
    """type determines how the Service is exposed. Defaults to ClusterIP. Valid options are ExternalName, ClusterIP,
    NodePort, and LoadBalancer. "ClusterIP" allocates a cluster-internal IP address for load-balancing to
    endpoints. Endpoints are determined by the selector or if that is not specified, by manual construction of an
    Endpoints object or EndpointSlice objects. If clusterIP is "None", no virtual IP is allocated and the
    endpoints are published as a set of endpoints rather than a virtual IP. "NodePort" builds on ClusterIP and
    allocates a port on every node which routes to the same endpoints as the clusterIP. "LoadBalancer" builds on
    NodePort and creates an external load-balancer (if supported in the current cloud) which routes to the same
    endpoints as the clusterIP. "ExternalName" aliases this service to the specified externalName. Several other
    fields do not apply to ExternalName services. More info:
    https://kubernetes.io/docs/concepts/services-networking/service/#publishing-services-service-types

    Possible enum values:
     - `"ClusterIP"` means a service will only be accessible inside the cluster, via the cluster IP.
     - `"ExternalName"` means a service consists of only a reference to an external name that kubedns or
       equivalent will return as a CNAME record, with no exposing or proxying of any pods involved.
     - `"LoadBalancer"` means a service will be exposed via an external load balancer (if the cloud provider
       supports it), in addition to 'NodePort' type.
     - `"NodePort"` means a service will be exposed on one port of every node, in addition to 'ClusterIP' type.
    """


class ServiceStatus(Part):
    """ServiceStatus represents the current status of a service."""

    conditions: list[Condition] = Field(default_factory=list)
    """Current service state"""
    load_balancer: LoadBalancerStatus = Field(default_factory=LoadBalancerStatus)
    """LoadBalancer contains the current status of the load-balancer, if one is present."""


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
    """Service is a named abstraction of software service (for example, mysql) consisting of local port (for example
    3306) that the proxy listens on, and the selector that determines which pods will answer requests sent through
    the proxy.
    """

    spec: ServiceSpec = Field(default_factory=ServiceSpec)
    """Spec defines the behavior of a service.
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#spec-and-status
    """
    status: ServiceStatus = Field(default_factory=ServiceStatus)
    """Most recently observed status of the service. Populated by the system. Read-only. More info:
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#spec-and-status
    """


class ServiceAccount(
    Kind, group="", version="v1", plural="serviceaccounts", short_names=("sa",), subresources=("token",)
):
    """ServiceAccount binds together: * a name, understood by users, and perhaps by peripheral systems, for an
    identity * a principal that can be authenticated and authorized * a set of secrets
    """

    automount_service_account_token: bool | None = None
    """AutomountServiceAccountToken indicates whether pods running as this service account should have an API token
    automatically mounted. Can be overridden at the pod level.
    """
    image_pull_secrets: list[LocalObjectReference] = Field(default_factory=list)
    """ImagePullSecrets is a list of references to secrets in the same namespace to use for pulling any images in
    pods that reference this ServiceAccount. ImagePullSecrets are distinct from Secrets because Secrets can be
    mounted in the pod, but ImagePullSecrets are only accessed by the kubelet. More info:
    https://kubernetes.io/docs/concepts/containers/images/#specifying-imagepullsecrets-on-a-pod
    """
    secrets: list[ObjectReference] = Field(default_factory=list)
    """Secrets is a list of the secrets in the same namespace that pods running using this ServiceAccount are allowed
    to use. Pods are only limited to this list if this service account has a
    "kubernetes.io/enforce-mountable-secrets" annotation set to "true". The
    "kubernetes.io/enforce-mountable-secrets" annotation is deprecated since v1.32. Prefer separate namespaces to
    isolate access to mounted secrets. This field should not be used to find auto-generated service account token
    secrets for use outside of pods. Instead, tokens can be requested directly using the TokenRequest API, or
    service account token secrets can be manually created. More info:
    https://kubernetes.io/docs/concepts/configuration/secret
    """
