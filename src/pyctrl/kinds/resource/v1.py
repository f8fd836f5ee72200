# Written by tools/generate_kinds.py from pyctrl/_schemas; change the generator, not this file.
"""The kinds of resource/v1 and their parts."""

from typing import Any

from pydantic import Field

from pyctrl.api import Condition, ObjectMeta, Quantity, Time
from pyctrl.kinds._builtin import Kind, Part
from pyctrl.kinds.core.v1 import NodeSelector

__all__ = [
    "AllocatedDeviceStatus",
    "AllocationResult",
    "CELDeviceSelector",
    "CapacityRequestPolicy",
    "CapacityRequestPolicyRange",
    "CapacityRequirements",
    "Counter",
    "CounterSet",
    "Device",
    "DeviceAllocationConfiguration",
    "DeviceAllocationResult",
    "DeviceAttribute",
    "DeviceCapacity",
    "DeviceClaim",
    "DeviceClaimConfiguration",
    "DeviceClass",
    "DeviceClassConfiguration",
    "DeviceClassSpec",
    "DeviceConstraint",
    "DeviceCounterConsumption",
    "DeviceRequest",
    "DeviceRequestAllocationResult",
    "DeviceSelector",
    "DeviceSubRequest",
    "DeviceTaint",
    "DeviceToleration",
    "ExactDeviceRequest",
    "NetworkDeviceData",
    "NodeAllocatableResourceMapping",
    "OpaqueDeviceConfiguration",
    "ResourceClaim",
    "ResourceClaimConsumerReference",
    "ResourceClaimSpec",
    "ResourceClaimStatus",
    "ResourceClaimTemplate",
    "ResourceClaimTemplateSpec",
    "ResourcePool",
    "ResourceSlice",
    "ResourceSliceSpec",
]


class NetworkDeviceData(Part):
    """`network_data` of AllocatedDeviceStatus."""

    hardware_address: str | None = None
    interface_name: str | None = None
    ips: list[str] = Field(default_factory=list)


class AllocatedDeviceStatus(Part):
    """`devices` of ResourceClaimStatus."""

    conditions: list[Condition] = Field(default_factory=list)
    data: dict[str, Any] = Field(default_factory=dict)
    device: str = ""
    driver: str = ""
    network_data: NetworkDeviceData | None = None
    pool: str = ""
    share_id: str | None = Field(default=None, validation_alias="shareID", serialization_alias="shareID")


class OpaqueDeviceConfiguration(Part):
    """`opaque` of DeviceAllocationConfiguration, `opaque` of DeviceClaimConfiguration, `opaque` of DeviceClassConfiguration."""

    driver: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)


class DeviceAllocationConfiguration(Part):
    """`config` of DeviceAllocationResult."""

    opaque: OpaqueDeviceConfiguration | None = None
    requests: list[str] = Field(default_factory=list)
    source: str = ""


class DeviceToleration(Part):
    """`tolerations` of DeviceRequestAllocationResult, `tolerations` of DeviceSubRequest, `tolerations` of ExactDeviceRequest."""

    effect: str | None = None
    key: str | None = None
    operator: str = "Equal"
    toleration_seconds: int | None = None
    value: str | None = None


class DeviceRequestAllocationResult(Part):
    """`results` of DeviceAllocationResult."""

    admin_access: bool | None = None
    binding_conditions: list[str] = Field(default_factory=list)
    binding_failure_conditions: list[str] = Field(default_factory=list)
    consumed_capacity: dict[str, Quantity] = Field(default_factory=dict)
    device: str = ""
    driver: str = ""
    pool: str = ""
    request: str = ""
    share_id: str | None = Field(default=None, validation_alias="shareID", serialization_alias="shareID")
    tolerations: list[DeviceToleration] = Field(default_factory=list)


class DeviceAllocationResult(Part):
    """`devices` of AllocationResult."""

    config: list[DeviceAllocationConfiguration] = Field(default_factory=list)
    results: list[DeviceRequestAllocationResult] = Field(default_factory=list)


class AllocationResult(Part):
    """`allocation` of ResourceClaimStatus."""

    allocation_timestamp: Time | None = None
    devices: DeviceAllocationResult = Field(default_factory=DeviceAllocationResult)
    node_selector: NodeSelector | None = None


class CELDeviceSelector(Part):
    """`cel` of DeviceSelector."""

    expression: str = ""


class CapacityRequestPolicyRange(Part):
    """`valid_range` of CapacityRequestPolicy."""

    max: Quantity | None = None
    min: Quantity = Quantity(0)
    step: Quantity | None = None


class CapacityRequestPolicy(Part):
    """`request_policy` of DeviceCapacity."""

    default: Quantity | None = None
    valid_range: CapacityRequestPolicyRange | None = None
    valid_values: list[Quantity] = Field(default_factory=list)


class CapacityRequirements(Part):
    """`capacity` of DeviceSubRequest, `capacity` of ExactDeviceRequest."""

    requests: dict[str, Quantity] = Field(default_factory=dict)


class Counter(Part):
    """`counters` of CounterSet, `counters` of DeviceCounterConsumption."""

    value: Quantity = Quantity(0)


class CounterSet(Part):
    """`shared_counters` of ResourceSliceSpec."""

    counters: dict[str, Counter] = Field(default_factory=dict)
    name: str = ""


class DeviceAttribute(Part):
    """`attributes` of Device."""

    bool_: bool | None = Field(default=None, validation_alias="bool", serialization_alias="bool")
    bools: list[bool] = Field(default_factory=list)
    int_: int | None = Field(default=None, validation_alias="int", serialization_alias="int")
    ints: list[int] = Field(default_factory=list)
    string: str | None = None
    strings: list[str] = Field(default_factory=list)
    version: str | None = None
    versions: list[str] = Field(default_factory=list)


class DeviceCapacity(Part):
    """`capacity` of Device."""

    request_policy: CapacityRequestPolicy | None = None
    value: Quantity = Quantity(0)


class DeviceCounterConsumption(Part):
    """`consumes_counters` of Device."""

    counter_set: str = ""
    counters: dict[str, Counter] = Field(default_factory=dict)


class DeviceTaint(Part):
    """`taints` of Device."""

    effect: str = ""
    key: str = ""
    time_added: Time | None = None
    value: str | None = None


class NodeAllocatableResourceMapping(Part):
    """`node_allocatable_resource_mappings` of Device."""

    allocation_multiplier: Quantity | None = None
    capacity_key: str | None = None


class Device(Part):
    """`devices` of ResourceSliceSpec."""

    all_nodes: bool | None = None
    allow_multiple_allocations: bool | None = None
    attributes: dict[str, DeviceAttribute] = Field(default_factory=dict)
    binding_conditions: list[str] = Field(default_factory=list)
    binding_failure_conditions: list[str] = Field(default_factory=list)
    binds_to_node: bool | None = None
    capacity: dict[str, DeviceCapacity] = Field(default_factory=dict)
    consumes_counters: list[DeviceCounterConsumption] = Field(default_factory=list)
    name: str = ""
    node_allocatable_resource_mappings: dict[str, NodeAllocatableResourceMapping] = Field(default_factory=dict)
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    taints: list[DeviceTaint] = Field(default_factory=list)


class DeviceClaimConfiguration(Part):
    """`config` of DeviceClaim."""

    opaque: OpaqueDeviceConfiguration | None = None
    requests: list[str] = Field(default_factory=list)


class DeviceConstraint(Part):
    """`constraints` of DeviceClaim."""

    distinct_attribute: str | None = None
    match_attribute: str | None = None
    requests: list[str] = Field(default_factory=list)


class DeviceSelector(Part):
    """`selectors` of DeviceClassSpec, `selectors` of DeviceSubRequest, `selectors` of ExactDeviceRequest."""

    cel: CELDeviceSelector | None = None


class DeviceSubRequest(Part):
    """`first_available` of DeviceRequest."""

    allocation_mode: str | None = None
    capacity: CapacityRequirements | None = None
    count: int | None = None
    device_class_name: str = ""
    name: str = ""
    selectors: list[DeviceSelector] = Field(default_factory=list)
    tolerations: list[DeviceToleration] = Field(default_factory=list)


class ExactDeviceRequest(Part):
    """`exactly` of DeviceRequest."""

    admin_access: bool | None = None
    allocation_mode: str | None = None
    capacity: CapacityRequirements | None = None
    count: int | None = None
    device_class_name: str = ""
    selectors: list[DeviceSelector] = Field(default_factory=list)
    tolerations: list[DeviceToleration] = Field(default_factory=list)


class DeviceRequest(Part):
    """`requests` of DeviceClaim."""

    exactly: ExactDeviceRequest | None = None
    first_available: list[DeviceSubRequest] = Field(default_factory=list)
    name: str = ""


class DeviceClaim(Part):
    """`devices` of ResourceClaimSpec."""

    config: list[DeviceClaimConfiguration] = Field(default_factory=list)
    constraints: list[DeviceConstraint] = Field(default_factory=list)
    requests: list[DeviceRequest] = Field(default_factory=list)


class DeviceClassConfiguration(Part):
    """`config` of DeviceClassSpec."""

    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClassSpec(Part):
    """`spec` of DeviceClass."""

    config: list[DeviceClassConfiguration] = Field(default_factory=list)
    extended_resource_name: str | None = None
    selectors: list[DeviceSelector] = Field(default_factory=list)


class DeviceClass(Kind, group="resource.k8s.io", version="v1", plural="deviceclasses", scope="Cluster"):
    """DeviceClass of resource.k8s.io/v1."""

    spec: DeviceClassSpec = Field(default_factory=DeviceClassSpec)


class ResourceClaimSpec(Part):
    """`spec` of ResourceClaim, `spec` of ResourceClaimTemplateSpec."""

    devices: DeviceClaim = Field(default_factory=DeviceClaim)


class ResourceClaimConsumerReference(Part):
    """`reserved_for` of ResourceClaimStatus."""

    api_group: str | None = None
    name: str = ""
    resource: str = ""
    uid: str = ""


class ResourceClaimStatus(Part):
    """`status` of ResourceClaim."""

    allocation: AllocationResult | None = None
    devices: list[AllocatedDeviceStatus] = Field(default_factory=list)
    reserved_for: list[ResourceClaimConsumerReference] = Field(default_factory=list)


class ResourceClaim(Kind, group="resource.k8s.io", version="v1", plural="resourceclaims", subresources=("status",)):
    """ResourceClaim of resource.k8s.io/v1."""

    spec: ResourceClaimSpec = Field(default_factory=ResourceClaimSpec)
    status: ResourceClaimStatus = Field(default_factory=ResourceClaimStatus)


class ResourceClaimTemplateSpec(Part):
    """`spec` of ResourceClaimTemplate."""

    metadata: ObjectMeta = Field(default_factory=ObjectMeta)
    spec: ResourceClaimSpec = Field(default_factory=ResourceClaimSpec)


class ResourceClaimTemplate(Kind, group="resource.k8s.io", version="v1", plural="resourceclaimtemplates"):
    """ResourceClaimTemplate of resource.k8s.io/v1."""

    spec: ResourceClaimTemplateSpec = Field(default_factory=ResourceClaimTemplateSpec)


class ResourcePool(Part):
    """`pool` of ResourceSliceSpec."""

    generation: int = 0
    name: str = ""
    resource_slice_count: int = 0


class ResourceSliceSpec(Part):
    """`spec` of ResourceSlice."""

    all_nodes: bool | None = None
    devices: list[Device] = Field(default_factory=list)
    driver: str = ""
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    per_device_node_selection: bool | None = None
    pool: ResourcePool = Field(default_factory=ResourcePool)
    shared_counters: list[CounterSet] = Field(default_factory=list)


class ResourceSlice(Kind, group="resource.k8s.io", version="v1", plural="resourceslices", scope="Cluster"):
    """ResourceSlice of resource.k8s.io/v1."""

    spec: ResourceSliceSpec = Field(default_factory=ResourceSliceSpec)
