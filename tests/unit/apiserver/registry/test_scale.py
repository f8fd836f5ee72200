"""The subresource scale."""

from __future__ import annotations

from typing import Any

from tests.unit.apiserver._kit import MERGE, Asker
from tests.unit.apiserver._objects import GROUP, definition

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"


APPLY = {"Content-Type": "application/apply-patch+yaml"}
TABLE = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}


def deployment() -> dict[str, Any]:
    labels = {"app": "a"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    return {"metadata": {"name": "a"}, "spec": {"selector": {"matchLabels": labels}, "template": template}}


def test_a_scale_is_a_row(ask: Asker) -> None:
    """`kubectl get --subresource=scale` gets a table of desired and available replicas."""
    ask("POST", DEPLOYMENTS, deployment())

    _, found = ask("GET", f"{DEPLOYMENTS}/a/scale", headers=TABLE)

    assert [column["name"] for column in found["columnDefinitions"]] == ["Name", "Desired", "Available", "Age"]
    assert found["rows"][0]["cells"][:3] == ["a", 1, 0]


def test_an_unchanged_scale_takes_the_replicas_from_who_created_the_object(ask: Asker) -> None:
    """A PUT of a Scale as it was read leaves the replicas without an owner after two writes, as upstream."""
    ask("POST", DEPLOYMENTS, deployment())
    versions, owners = [], []
    for _ in range(3):
        _, scale = ask("GET", f"{DEPLOYMENTS}/a/scale")
        ask("PUT", f"{DEPLOYMENTS}/a/scale", scale)
        metadata = ask("GET", f"{DEPLOYMENTS}/a")[1]["metadata"]
        versions.append(metadata["resourceVersion"])
        owners.append(["f:replicas" in each["fieldsV1"]["f:spec"] for each in metadata["managedFields"]])
    assert owners == [[True, False], [False], [False]]
    assert versions[0] != versions[1] == versions[2]


def test_an_apply_to_an_untracked_scale_conflicts_at_the_subresource(ask: Asker) -> None:
    """The conflict with the owner of fields from before the first apply names the subresource."""
    ask("POST", DEPLOYMENTS, deployment())
    ask("PATCH", f"{DEPLOYMENTS}/a", {"metadata": {"managedFields": [{}]}}, headers=MERGE)
    applied = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "a"}, "spec": {"replicas": 2}}

    code, found = ask("PATCH", f"{DEPLOYMENTS}/a/scale", applied, headers=APPLY, fieldManager="m")

    owner = 'conflict with "before-first-apply" with subresource "scale" using autoscaling/v1'
    assert (code, [each["message"] for each in found["details"]["causes"]]) == (409, [owner])


def test_a_body_that_is_no_scale_is_refused_before_the_object_is_read(ask: Asker) -> None:
    """A PUT of another kind to the Scale of an object that does not exist gets 400, not 404."""
    code, refused = ask("PUT", f"{DEPLOYMENTS}/missing/scale", {"apiVersion": "v1", "kind": "Pod"})
    assert (code, "converting (v1.Pod) to (autoscaling.Scale)" in refused["message"]) == (400, True)


def _scaled_kind(ask: Asker) -> str:
    """Define a kind with a scale, create an object without replicas, and return the path of its scale."""
    paths = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    ask(
        "POST",
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        definition(schema, subresources={"scale": paths}),
    )
    things = f"/apis/{GROUP}/v1/namespaces/default/things"
    ask(
        "POST",
        things,
        {"apiVersion": f"{GROUP}/v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": {"replicas": 0}},
    )
    return f"{things}/a/scale"


def test_a_scale_of_a_custom_resource_has_other_columns(ask: Asker) -> None:
    """Its table describes the columns in other words, and has no number where replicas are zero."""
    path = _scaled_kind(ask)

    _, found = ask("GET", path, headers=TABLE)

    columns = [(each["name"], each["type"], each["description"]) for each in found["columnDefinitions"][1:3]]
    assert columns == [
        ("Desired", "integer", "Number of desired replicas"),
        ("Available", "integer", "Number of actual replicas"),
    ]
    assert found["rows"][0]["cells"][:3] == ["a", None, 0]


def test_a_malformed_scale_of_a_custom_resource_has_one_error(ask: Asker) -> None:
    """All errors of a PUT are that the kind is not registered, because the scheme of custom resources lacks it."""
    path, scale = _scaled_kind(ask), {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "a"}}
    for body in (b"{", {**scale, "kind": "Thing"}, {**scale, "spec": {"replicas": "x"}}):
        code, refused = ask("PUT", path, body)
        message = 'no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"'
        assert (code, refused["message"]) == (400, message)


def test_a_patch_cannot_make_a_scale_another_kind(ask: Asker) -> None:
    """The patched object must be a Scale."""
    ask("POST", DEPLOYMENTS, deployment())
    code, told = ask("PATCH", f"{DEPLOYMENTS}/a/scale", {"kind": "Deployment"}, headers=MERGE)
    assert (code, told["reason"]) == (422, "Invalid")
    assert 'no kind "Deployment" is registered for version "autoscaling/v1" in scheme' in told["message"]
