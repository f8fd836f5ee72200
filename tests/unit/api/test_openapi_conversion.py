"""Models of kubernetes_asyncio: their kinds, and their conversion from and to JSON."""

from __future__ import annotations

import copy
import inspect
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from kubernetes_asyncio import client as models
from kubernetes_asyncio.client import (
    V1ConfigMap,
    V1CustomResourceDefinition,
    V1Deployment,
    V1Lease,
    V1LeaseSpec,
    V1NetworkPolicy,
    V1ObjectMeta,
    V1Pod,
    V1PodSpec,
    V1Secret,
)

from pyctrl.api import GroupVersionKind, as_object, decode, kind_of
from pyctrl.errors import DecodeError, NotRegistered
from pyctrl.kinds import BUILTIN_KINDS
from pyctrl.kinds.core.v1 import Container

META = {"name": "a", "namespace": "default"}


def document(kind: Any, **content: Any) -> dict[str, Any]:
    """Return a document of a kind."""
    gvk = kind_of(kind)
    return {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": META, **content}


def read(kind: Any, wire: dict[str, Any]) -> Any:
    """Decode a document as the model class."""
    return decode(kind, msgspec.json.encode(wire))


# --- kinds ----------------------------------------------------------------------------------------------------------


def test_every_built_in_kind_has_its_model_class() -> None:
    """Each model class with metadata is the built-in kind of its name; those of sub-resources are no kinds."""
    found = {}
    each: list[Any] = [value for value in vars(models).values() if inspect.isclass(value)]
    for model in each:
        if hasattr(model, "openapi_types"):
            try:
                found[kind_of(model)] = model.__name__
            except NotRegistered:
                continue
    only_subresources = {"TokenRequest", "Scale", "Eviction"}
    newer = {"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"}  # not in releases before 36
    missing = {gvk.kind for gvk in BUILTIN_KINDS if gvk not in found} - newer
    assert missing == only_subresources
    assert {name for name in found.values() if name.endswith(("Status", "Spec", "List"))} == {"V1ComponentStatus"}


@pytest.mark.parametrize(
    ("model", "gvk"),
    [
        ("CoreV1Event", GroupVersionKind("", "v1", "Event")),
        ("EventsV1Event", GroupVersionKind("events.k8s.io", "v1", "Event")),
        ("V1CSIDriver", GroupVersionKind("storage.k8s.io", "v1", "CSIDriver")),
        ("V1FlowSchema", GroupVersionKind("flowcontrol.apiserver.k8s.io", "v1", "FlowSchema")),
        ("V1ClusterRole", GroupVersionKind("rbac.authorization.k8s.io", "v1", "ClusterRole")),
        ("V2HorizontalPodAutoscaler", GroupVersionKind("autoscaling", "v2", "HorizontalPodAutoscaler")),
        ("V1beta1DeviceClass", GroupVersionKind("resource.k8s.io", "v1beta1", "DeviceClass")),
    ],
)
def test_the_kind_of_a_model_class(model: str, gvk: GroupVersionKind) -> None:
    """The group is found for classes of several groups with one name, of dotted groups, and of beta versions."""
    assert kind_of(getattr(models, model)) == gvk


def test_a_subclass_has_the_kind_of_its_model() -> None:
    """A class that a program derives from a model is of the same kind."""

    class Labelled(V1ConfigMap):
        """Has a method of its own."""

    assert kind_of(Labelled) == kind_of(V1ConfigMap)
    assert isinstance(read(Labelled, document(V1ConfigMap)), Labelled)


def test_a_part_is_no_kind() -> None:
    """The model of a part, such as a V1PodSpec, is refused where a kind is expected."""
    with pytest.raises(NotRegistered, match="V1PodSpec"):
        kind_of(V1PodSpec)  # type: ignore[type-var]


# --- round trips ----------------------------------------------------------------------------------------------------

POD = {
    "containers": [
        {
            "name": "main",
            "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
            "ports": [{"containerPort": 80}],
            "livenessProbe": {"httpGet": {"port": "http"}},
            "readinessProbe": {"httpGet": {"port": 8080}},
            "resources": {"limits": {"cpu": "500m", "memory": "1Gi"}},
        }
    ],
    "nodeSelector": {"disk": "ssd"},
    "terminationGracePeriodSeconds": 0,
    "hostNetwork": False,
}


@pytest.mark.parametrize(
    ("model", "content"),
    [
        (V1Pod, {"spec": POD}),
        (V1Pod, {"spec": {**POD, "newField": {"a": [1]}}, "newPart": 1}),
        (V1NetworkPolicy, {"spec": {"podSelector": {}, "ingress": [{"from": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}]}}),
        (V1Secret, {"data": {"password": "cGFzcw=="}, "type": "Opaque"}),
        (V1Lease, {"spec": {"acquireTime": "2026-01-02T03:04:05.000000Z", "leaseDurationSeconds": 15}}),
        (
            V1CustomResourceDefinition,
            {
                "spec": {
                    "group": "demo.test",
                    "names": {"kind": "Thing", "plural": "things"},
                    "scope": "Namespaced",
                    "versions": [
                        {
                            "name": "v1",
                            "served": True,
                            "storage": True,
                            "schema": {
                                "openAPIV3Schema": {
                                    "type": "object",
                                    "properties": {"a": {"not": {"type": "string"}, "default": 3}},
                                    "x-kubernetes-preserve-unknown-fields": True,
                                }
                            },
                        }
                    ],
                }
            },
        ),
    ],
    ids=["pod", "unknown fields", "alias", "secret", "micro time", "recursive"],
)
def test_what_is_read_is_written_again(model: Any, content: dict[str, Any]) -> None:
    """Nothing is lost on the way: numbers and texts of one field, reserved names, fields of a newer server."""
    wire = document(model, **content)
    obj = read(model, wire)

    assert type(obj) is model
    assert as_object(obj).to_wire() == wire
    assert as_object(copy.deepcopy(obj)).to_wire() == wire


def test_values_have_the_library_s_types() -> None:
    """Fields have Python's names and the types that the library's ApiClient gives them."""
    pod = read(V1Pod, {"metadata": {**META, "creationTimestamp": "2026-01-02T03:04:05Z"}, "spec": POD})
    main = pod.spec.containers[0]

    assert pod.metadata.creation_timestamp == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert (main.liveness_probe.http_get.port, main.readiness_probe.http_get.port) == ("http", 8080)
    assert main.resources.limits == {"cpu": "500m", "memory": "1Gi"}
    assert main.env[0].value_from.field_ref.field_path == "metadata.name"
    assert pod.status is None


def test_an_item_of_a_list_gets_its_kind() -> None:
    """An item of a list, which has no apiVersion and kind on the wire, has them as an object."""
    found = read(V1Deployment, {"metadata": META})
    assert (found.api_version, found.kind) == ("apps/v1", "Deployment")


def test_a_quantity_may_be_a_number() -> None:
    """A quantity that a user wrote as a number is text, as in the library."""
    pod = read(V1Pod, document(V1Pod, spec={"containers": [{"name": "a", "resources": {"limits": {"cpu": 2}}}]}))
    assert pod.spec.containers[0].resources.limits == {"cpu": "2"}


def test_missing_required_fields_are_none() -> None:
    """An object of the server is never refused for a required field that is null or missing."""
    deployment = read(V1Deployment, document(V1Deployment, spec={"selector": None}))
    assert deployment.spec.selector is None
    assert deployment.spec.template is None


def test_a_new_object_is_written_with_its_kind() -> None:
    """An object that a program made without apiVersion, kind and metadata is sent with the first two."""
    assert as_object(V1ConfigMap(data={"a": "b"})).to_wire() == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "data": {"a": "b"},
    }


def test_times_are_written_as_the_server_writes_them() -> None:
    """A MicroTime has six digits also at a full second, and a time without zone is UTC."""
    moment = datetime(2026, 1, 2, 3, 4, 5)  # noqa: DTZ001 - what a program may pass
    lease = V1Lease(
        metadata=V1ObjectMeta(name="a", creation_timestamp=moment),
        spec=V1LeaseSpec(renew_time=moment, lease_transitions=1),
    )
    wire = as_object(lease).to_wire()
    assert wire["spec"] == {"renewTime": "2026-01-02T03:04:05.000000Z", "leaseTransitions": 1}
    assert wire["metadata"]["creationTimestamp"] == "2026-01-02T03:04:05Z"


def test_a_part_of_pyctrl_s_kinds_fits_into_a_model() -> None:
    """A model may contain parts of pyctrl's own kinds, and dicts, while a program is being ported."""
    pod = V1Pod(spec=V1PodSpec(containers=[Container(name="a", image="b"), {"name": "c"}]))  # type: ignore[list-item]
    assert as_object(pod).to_wire()["spec"] == {"containers": [{"name": "a", "image": "b"}, {"name": "c"}]}


# --- refusals -------------------------------------------------------------------------------------------------------


def test_another_kind_is_refused() -> None:
    """An object of another kind is no object of the model's kind."""
    with pytest.raises(DecodeError, match="expected v1, Kind=ConfigMap, got v1, Kind=Secret"):
        read(V1ConfigMap, document(V1Secret))


@pytest.mark.parametrize(
    "content",
    [{"data": ["hunter2"]}, {"data": {"password": ["hunter2"]}}, {"metadata": "hunter2"}],
    ids=["list for map", "list for text", "text for object"],
)
def test_a_field_of_another_type_is_named_and_not_shown(content: dict[str, Any]) -> None:
    """The error names the field, and not its value, which may be secret."""
    with pytest.raises(DecodeError, match=r"V1Secret\.|V1ObjectMeta") as refused:
        read(V1Secret, {**document(V1Secret), **content})
    assert "hunter2" not in str(refused.value)


def test_what_json_cannot_express_is_refused() -> None:
    """A value that cannot be sent is an error that names its attribute."""
    with pytest.raises(TypeError, match="data has a value that JSON cannot express: a set"):
        as_object(V1ConfigMap(data={"a"}))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected an object or its document, got 3"):
        as_object(3)  # type: ignore[arg-type]


def test_bytes_that_are_no_json_are_refused() -> None:
    """Bytes that are not JSON, or no object, are DecodeErrors."""
    for data in (b"{", b"[]"):
        with pytest.raises(DecodeError):
            decode(V1ConfigMap, data)
