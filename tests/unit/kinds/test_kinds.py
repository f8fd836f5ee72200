"""The built-in kinds hold everything that the server's schemas name, and lose nothing."""

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from pyctrl import _schemas
from pyctrl.api import GroupVersionKind, KubernetesObject, LabelSelector, Model, ObjectMeta, Quantity
from pyctrl.kinds import BUILTIN_KINDS
from pyctrl.kinds.apiextensions.v1 import JSONSchemaProps
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import Container, Pod, PodSpec, Secret, Service, Toleration
from pyctrl.kinds.networking.v1 import IPBlock, NetworkPolicyIngressRule

DEFINITIONS: dict[str, dict[str, Any]] = {}
for document in _schemas.GROUP_VERSIONS:
    DEFINITIONS |= _schemas.load(document)["schemas"]

KINDS = pytest.mark.parametrize("gvk", list(BUILTIN_KINDS), ids=str)

# What the server's schemas leave open, or say in more ways than one.
SPECIAL: dict[str, Any] = {
    "Quantity": itertools.cycle(["1500m", "1.50Gi", 2, 0.5]),
    "IntOrString": itertools.cycle([8080, "25%", "8080"]),
    "Time": itertools.cycle(["2024-05-06T07:08:09Z"]),
    "MicroTime": itertools.cycle(["2024-05-06T07:08:09.000010Z"]),
    "JSON": itertools.cycle([{"any": [1, None, "x"]}, 5, "text", False, [1]]),
    "RawExtension": itertools.cycle([{"kind": "Any", "n": {"a": [1.5]}}]),
    "FieldsV1": itertools.cycle([{"f:spec": {".": {}}}]),
    "CustomResourceSubresourceStatus": itertools.cycle([{}]),
    "JSONSchemaPropsOrArray": itertools.cycle([{"type": "string"}, [{"type": "string"}]]),
    "JSONSchemaPropsOrBool": itertools.cycle([{"type": "string"}, True, False]),
    "JSONSchemaPropsOrStringArray": itertools.cycle([{"type": "string"}, ["a"]]),
    "Condition": itertools.cycle([{"type": "Ready", "status": "True", "reason": "Fine", "message": ""}]),
}
SCALARS = {"string": "text", "integer": 3, "boolean": False, "number": 1.5}


def sample(schema: dict[str, Any], path: tuple[str, ...] = ()) -> Any:
    """Make a value with everything that a schema names in it; a definition within itself ends the descent."""
    target = schema.get("$ref") or next((part["$ref"] for part in schema.get("allOf", ())), None)
    if target is not None:
        name = target.rpartition("/")[2]
        special = SPECIAL.get(name.rpartition(".")[2])
        if special is not None:
            return next(special)
        return {} if name in path else sample(DEFINITIONS[name], (*path, name))
    match schema.get("type"):
        case "object" if "properties" in schema:
            return {name: sample(part, path) for name, part in schema["properties"].items()}
        case "object":
            return {"a/b": sample(schema.get("additionalProperties", {"type": "string"}), path)}
        case "array":
            return [sample(schema["items"], path)]
        case scalar:
            return SCALARS[str(scalar)]


def definition(gvk: GroupVersionKind) -> dict[str, Any]:
    wanted = {"group": gvk.group, "version": gvk.version, "kind": gvk.kind}
    return next(s for s in DEFINITIONS.values() if wanted in s.get("x-kubernetes-group-version-kind", ()))


def full(gvk: GroupVersionKind) -> dict[str, Any]:
    obj: dict[str, Any] = sample(definition(gvk))
    return obj | {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": {"name": "full"}}


def load(gvk: GroupVersionKind) -> type[KubernetesObject]:
    return BUILTIN_KINDS[gvk].load(gvk.kind)


def unknown_fields(value: Any, path: str = "") -> Iterator[str]:
    if isinstance(value, Model):
        yield from (f"{path}.{name}" for name in value.model_extra or {})
        for name, part in value.__dict__.items():
            yield from unknown_fields(part, f"{path}.{name}")
    elif isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from unknown_fields(part, path)


@KINDS
def test_full_object_survives(gvk: GroupVersionKind) -> None:
    """An object with every field of its schema is written as it was read, and no field is unknown to its class."""
    wire = full(gvk)
    obj = load(gvk).from_wire(wire)
    assert obj.to_wire() == wire
    assert list(unknown_fields(obj)) == []


@KINDS
def test_empty_object_survives(gvk: GroupVersionKind) -> None:
    """Nothing is required of an object that is read, and none of its defaults is written."""
    wire = {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": {}}
    assert load(gvk).from_wire(wire).to_wire() == wire
    del wire["metadata"]
    assert load(gvk)().to_wire() == wire


@KINDS
def test_nulls_survive(gvk: GroupVersionKind) -> None:
    """A null, which some servers write for what is absent, is read and written back."""
    wire = dict.fromkeys(full(gvk)) | {"apiVersion": gvk.api_version, "kind": gvk.kind}
    assert load(gvk).from_wire(wire).to_wire() == wire


@KINDS
def test_class_says_how_the_kind_is_served(gvk: GroupVersionKind) -> None:
    """The class and the table of kinds agree with each other."""
    cls, builtin = load(gvk), BUILTIN_KINDS[gvk]
    assert cls.gvk == gvk
    assert builtin.namespaced is cls.resource.namespaced
    assert builtin.plural in (cls.resource.plural, "")


def test_every_served_kind_has_a_class() -> None:
    """Whatever discovery lists can be imported."""
    served = {
        (group["metadata"].get("name", ""), version["version"], resource["responseKind"]["kind"])
        for groups in _schemas.load("discovery").values()
        for group in groups
        for version in group["versions"]
        for resource in version["resources"]
    }
    assert served <= set(BUILTIN_KINDS)
    assert {gvk.kind for gvk in BUILTIN_KINDS if tuple(gvk) not in served} == {"Eviction", "Scale", "TokenRequest"}


def test_discovery_facts() -> None:
    """Scope, short names, categories and sub-resources are those of discovery."""
    assert Deployment.resource.plural == "deployments"
    assert Deployment.resource.short_names == ("deploy",)
    assert Deployment.resource.categories == ("all",)
    assert Deployment.resource.subresources == {"scale", "status"}
    assert load(GroupVersionKind("", "v1", "Endpoints")).resource.singular == "endpoints"
    assert not load(GroupVersionKind("", "v1", "Node")).resource.namespaced


def test_reads_without_none_checks() -> None:
    """The way down to what the server always writes needs no check for None."""
    deployment = Deployment.from_wire({"apiVersion": "apps/v1", "kind": "Deployment"})
    assert deployment.status.ready_replicas is None
    assert deployment.spec.replicas is None
    assert deployment.spec.template.spec.containers == []
    assert Container().resources.limits == {}


def test_what_is_filled_in_place_is_written() -> None:
    """An object can be filled from the empty one, and holds what was filled and nothing else."""
    deployment = Deployment(metadata=ObjectMeta(name="web", namespace="default"))
    deployment.spec.replicas = 0
    deployment.spec.selector.match_labels["app"] = "web"
    deployment.spec.template.metadata.labels["app"] = "web"
    container = Container(name="web", image="web:1")
    container.resources.limits["cpu"] = Quantity("500m")
    deployment.spec.template.spec.containers.append(container)
    assert deployment.to_wire() == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": "web:1", "resources": {"limits": {"cpu": "500m"}}}]},
            },
        },
    }


def test_changing_one_field_changes_nothing_else() -> None:
    """Decode, change one field, encode: the rest is as it was, unknown fields and odd quantities included."""
    wire = full(GroupVersionKind("", "v1", "Pod"))
    wire["spec"]["fromTheFuture"] = {"a": [1]}
    pod = Pod.from_wire(wire)
    pod.spec.node_name = "node-1"
    assert pod.to_wire() == {**wire, "spec": {**wire["spec"], "nodeName": "node-1"}}


@pytest.mark.parametrize(
    ("obj", "wire"),
    [
        (PodSpec(host_pid=True, set_hostname_as_fqdn=True), {"hostPID": True, "setHostnameAsFQDN": True}),
        (IPBlock(cidr="10.0.0.0/8", except_=["10.1.0.0/16"]), {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}),
        (NetworkPolicyIngressRule(from_=[]), {"from": []}),
        (JSONSchemaProps(ref="x", not_=JSONSchemaProps(type="string")), {"$ref": "x", "not": {"type": "string"}}),
        (
            JSONSchemaProps(x_kubernetes_preserve_unknown_fields=True, items=JSONSchemaProps()),
            {"x-kubernetes-preserve-unknown-fields": True, "items": {}},
        ),
        (Toleration(toleration_seconds=0), {"tolerationSeconds": 0}),
    ],
)
def test_names_on_the_wire(obj: Model, wire: dict[str, Any]) -> None:
    """Names that camel case or Python get wrong have their own spelling on the wire."""
    assert obj.to_wire() == wire
    assert type(obj).from_wire(wire) == obj


def test_service_addresses_have_readable_names() -> None:
    """Acronyms become words: clusterIPs is cluster_ips."""
    service = Service.from_wire({"apiVersion": "v1", "kind": "Service", "spec": {"clusterIPs": ["10.0.0.1"]}})
    assert service.spec.cluster_ips == ["10.0.0.1"]


def test_secret_data_is_the_text_of_the_wire() -> None:
    """Bytes stay base64 text, so that nothing is decoded in vain or encoded differently."""
    secret = Secret.from_wire({"apiVersion": "v1", "kind": "Secret", "data": {"key": "c2VjcmV0"}})
    assert secret.data == {"key": "c2VjcmV0"}


def test_selector_of_a_workload_can_be_matched() -> None:
    """The selector of a typed object becomes one that matches labels."""
    deployment = Deployment()
    deployment.spec.selector.match_labels["app"] = "web"
    assert LabelSelector.from_wire(deployment.spec.selector).matches({"app": "web", "tier": "front"})
