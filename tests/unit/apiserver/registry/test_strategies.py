"""Defaults, decisions and checks of built-in kinds."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._errors import StatusError
from pyctrl.apiserver._registry.pods import quality_of_service
from tests.unit.apiserver._objects import complaints, create, deployment, update


def _pod(**container: Any) -> dict[str, Any]:
    spec = {"containers": [{"name": "c", "image": "busybox:1", **container}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}


def test_a_deployment_is_filled_in() -> None:
    """A minimal Deployment gets one replica, a rolling update by quarters, and containers with every default."""
    created, _ = create(ResourceRegistry(), deployment())
    spec = created["spec"]
    assert (spec["replicas"], spec["revisionHistoryLimit"], spec["progressDeadlineSeconds"]) == (1, 10, 600)
    assert spec["strategy"]["rollingUpdate"] == {"maxUnavailable": "25%", "maxSurge": "25%"}
    container = spec["template"]["spec"]["containers"][0]
    assert (container["imagePullPolicy"], container["terminationMessagePolicy"]) == ("Always", "File")
    assert created["metadata"]["generation"] == 1


def test_a_deployments_generation_counts_its_wish() -> None:
    """Spec and annotations move a Deployment's generation; labels and status do not."""
    registry = ResourceRegistry()
    old, _ = create(registry, deployment())
    labelled = update(registry, {**deployment(), "metadata": {"name": "d", "labels": {"a": "b"}}}, old)
    assert labelled["metadata"]["generation"] == 1
    annotated = update(registry, {**deployment(), "metadata": {"name": "d", "annotations": {"a": "b"}}}, old)
    assert annotated["metadata"]["generation"] == 2
    assert update(registry, deployment(replicas=2), old)["metadata"]["generation"] == 2
    status = update(registry, {**old, "status": {"replicas": 1}}, old, subresource="status")
    assert (status["metadata"]["generation"], status["status"]) == (1, {"replicas": 1})


def test_a_selector_that_misses_the_template_is_refused() -> None:
    """A Deployment whose selector does not select its pods is refused; an existing one's never changes."""
    registry = ResourceRegistry()
    old, _ = create(registry, deployment())
    with pytest.raises(StatusError) as refused:
        update(registry, deployment(selector={"matchLabels": {"app": "other"}}), old)
    assert complaints(refused.value) == [
        'spec.template.metadata.labels: Invalid value: {"app":"d"}: `selector` does not match template `labels`',
        'spec.selector: Invalid value: {"matchLabels":{"app":"other"}}: field is immutable',
    ]


def test_claims_of_a_stateful_set_are_volumes_of_its_pods() -> None:
    """Its containers mount them by the name of the template, whatever volumes the pods have besides; others not."""
    container = {"name": "c", "image": "i", "volumeMounts": [{"name": "data", "mountPath": "/data"}]}
    template = {"metadata": {"labels": {"app": "d"}}, "spec": {"containers": [container]}}
    volumes = {"spec": {"containers": [container], "volumes": [{"name": "data", "emptyDir": {}}]}}
    claim = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {}}}
    stateful_set = {**deployment(serviceName="s", template=template), "kind": "StatefulSet"}
    claimed = {**stateful_set["spec"], "volumeClaimTemplates": [claim]}
    create(ResourceRegistry(), {**stateful_set, "spec": claimed})
    created, _ = create(ResourceRegistry(), {**stateful_set, "spec": {**claimed, "template": {**template, **volumes}}})
    assert created["spec"]["template"]["spec"]["volumes"] == [{"name": "data", "emptyDir": {}}]
    with pytest.raises(StatusError) as refused:
        create(ResourceRegistry(), stateful_set)
    assert complaints(refused.value) == ['spec.template.spec.containers[0].volumeMounts[0].name: Not found: "data"']


def test_a_pod_is_pending_and_tolerates_its_node_for_a_while() -> None:
    """A new pod is pending whatever it says, and may stay five minutes on a node that is not ready."""
    obj = _pod()
    obj["status"] = {"phase": "Running"}
    created, _ = create(ResourceRegistry(), obj)
    assert created["status"] == {"phase": "Pending", "qosClass": "BestEffort"}
    assert [each["tolerationSeconds"] for each in created["spec"]["tolerations"]] == [300, 300]


def test_a_pods_spec_hardly_changes() -> None:
    """Of a pod's spec the image may change, the command may not."""
    registry = ResourceRegistry()
    old, _ = create(registry, _pod())
    assert update(registry, _pod(image="busybox:2"), old)["metadata"]["generation"] == 2
    with pytest.raises(StatusError, match="pod updates may not change fields other than"):
        update(registry, _pod(command=["x"]), old)


@pytest.mark.parametrize(
    ("container", "complaint"),
    [
        ({"name": "Bad_Name"}, 'spec.containers[0].name: Invalid value: "Bad_Name"'),
        ({"image": ""}, "spec.containers[0].image: Required value"),
        ({"ports": [{"containerPort": 99999}]}, "spec.containers[0].ports[0].containerPort: Invalid value: 99999"),
        ({"imagePullPolicy": "Sometimes"}, 'spec.containers[0].imagePullPolicy: Unsupported value: "Sometimes"'),
        (
            {"volumeMounts": [{"name": "v", "mountPath": "/x"}]},
            'spec.containers[0].volumeMounts[0].name: Not found: "v"',
        ),
        ({"env": [{"value": "x"}]}, "spec.containers[0].env[0].name: Required value"),
        (
            {"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}},
            'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
        ),
    ],
)
def test_what_operators_get_wrong_in_containers_is_refused(container: dict[str, Any], complaint: str) -> None:
    """A container that could not run is refused with the field that is wrong."""
    with pytest.raises(StatusError) as refused:
        create(ResourceRegistry(), _pod(**container))
    assert complaints(refused.value)[0].startswith(complaint)


@pytest.mark.parametrize(
    ("resources", "quality"),
    [
        ({}, "BestEffort"),
        ({"requests": {"cpu": "1"}}, "Burstable"),
        ({"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1", "memory": "1Gi"}}, "Guaranteed"),
    ],
)
def test_quality_of_service(resources: dict[str, Any], quality: str) -> None:
    """A pod's quality of service follows from what its containers ask for and are held to."""
    assert quality_of_service({"containers": [{"resources": resources}]}) == quality


def test_services_get_addresses_of_their_own() -> None:
    """Each service gets an address and node ports that no other has, and keeps them; headless ones get none."""
    registry = ResourceRegistry()

    def service(**spec: Any) -> dict[str, Any]:
        return {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "s"},
            "spec": {"ports": [{"port": 80}], **spec},
        }

    first, _ = create(registry, service(type="NodePort"))
    second, _ = create(registry, service(type="NodePort"))
    assert first["spec"]["clusterIP"] != second["spec"]["clusterIP"]
    assert first["spec"]["ports"][0]["nodePort"] != second["spec"]["ports"][0]["nodePort"]
    replaced = update(registry, service(type="NodePort"), first)
    assert replaced["spec"] == first["spec"]
    headless, _ = create(registry, service(clusterIP="None", selector={"a": "b"}))
    assert headless["spec"]["clusterIPs"] == ["None"]


def test_a_job_gets_a_selector_of_its_own() -> None:
    """A Job selects its pods by its uid, and its template carries the labels for it."""
    spec = {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}
    obj = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "uid": "u1"}, "spec": spec}
    created, _ = create(ResourceRegistry(), obj)
    assert created["spec"]["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": "u1"}}
    assert created["spec"]["template"]["metadata"]["labels"]["job-name"] == "j"


def test_secrets_write_their_text_as_data() -> None:
    """stringData ends up in data, encoded, and is not kept; the type never changes."""
    registry = ResourceRegistry()
    obj = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"k": "v"}}
    created, _ = create(registry, obj)
    assert (created["data"], created["type"]) == ({"k": "dg=="}, "Opaque")
    assert "stringData" not in created
    with pytest.raises(StatusError, match="type: Invalid value"):
        update(registry, {**created, "type": "other"}, created)


def test_an_immutable_config_map_stays_as_it_is() -> None:
    """Neither the data nor the immutability of an immutable ConfigMap changes."""
    registry = ResourceRegistry()
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "immutable": True, "data": {"k": "1"}}
    old, _ = create(registry, obj)
    with pytest.raises(StatusError) as refused:
        update(registry, {**obj, "immutable": False, "data": {"k": "2"}}, old)
    assert [told.partition(":")[0] for told in complaints(refused.value)] == ["immutable", "data"]


def test_a_namespace_is_held_by_its_finalizer() -> None:
    """A new namespace is active, carries its name as a label, and is held by `kubernetes` until it is empty."""
    created, _ = create(ResourceRegistry(), {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}})
    assert created["spec"] == {"finalizers": ["kubernetes"]}
    assert created["status"] == {"phase": "Active"}
    assert created["metadata"]["labels"] == {"kubernetes.io/metadata.name": "n"}


def test_selectable_fields_of_built_in_kinds() -> None:
    """Pods are selected by node and phase, which are empty until they are known."""
    registry = ResourceRegistry()
    created, _ = create(registry, _pod())
    found = registry.find("", "v1", "pods")
    assert found is not None
    fields = found.selectable_fields(created)
    assert (fields["spec.nodeName"], fields["status.phase"], fields["spec.hostNetwork"]) == ("", "Pending", "false")
