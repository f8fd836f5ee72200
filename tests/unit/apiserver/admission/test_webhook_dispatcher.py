"""Admission webhooks: matching, requests, and the effects of responses. In process, in virtual time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.unit.apiserver._hooks import CONFIGMAP_RULE, Review, World, allowed, patching, webhook
from tests.unit.apiserver._kit import CONFIGMAPS, MERGE


async def test_a_mutating_webhook_sees_what_was_sent_a_validating_one_what_will_be_stored(world: World) -> None:
    """Both see defaults and the name of the request; only the validating webhook sees the server's fields."""
    await world.hook("m", mutating=True)
    await world.hook("v")
    code, made = await world.ask("POST", CONFIGMAPS, {"metadata": {"name": "a", "uid": "mine"}}, fieldManager="me")
    assert code == 201
    (_, first), (_, second) = world.calls
    assert first["request"]["object"]["metadata"] == {"name": "a", "namespace": "default"}
    assert second["request"]["object"]["metadata"]["uid"] == made["metadata"]["uid"]
    asked = {key: value for key, value in second["request"].items() if key not in ("uid", "object")}
    kind, resource = {"group": "", "version": "v1", "kind": "ConfigMap"}, "configmaps"
    place = {"group": "", "version": "v1", "resource": resource}
    assert asked == {
        "kind": kind,
        "resource": place,
        "requestKind": kind,
        "requestResource": place,
        "name": "a",
        "namespace": "default",
        "operation": "CREATE",
        "userInfo": {"username": "kubernetes-admin", "groups": ["system:masters", "system:authenticated"]},
        "oldObject": None,
        "dryRun": False,
        "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1", "fieldManager": "me"},
    }


async def test_a_patch_changes_the_object_and_nobody_owns_what_it_set(world: World) -> None:
    """Fields that a webhook sets are stored but have no field manager."""
    world.replies["/m"] = patching({"op": "add", "path": "/metadata/labels", "value": {"by": "webhook"}})
    await world.hook("m", mutating=True)
    _, made = await world.create(data={"a": "1"})
    assert made["metadata"]["labels"] == {"by": "webhook"}
    assert made["metadata"]["managedFields"][0]["fieldsV1"] == {"f:data": {".": {}, "f:a": {}}}


async def test_an_update_begins_anew_when_the_object_changes_while_a_webhook_is_asked(world: World) -> None:
    """The patch is applied to the current object and admitted again: no write is lost."""
    await world.create(data={"a": "1"})
    interrupted = False

    async def interrupt(review: Review) -> Review:
        nonlocal interrupted
        if not interrupted:
            interrupted = True
            await world.ask("PATCH", f"{CONFIGMAPS}/a", {"data": {"b": "2"}}, headers=MERGE)
        return allowed(review)

    world.replies["/v"] = interrupt
    await world.hook("v")
    code, changed = await world.ask("PATCH", f"{CONFIGMAPS}/a", {"data": {"c": "3"}}, headers=MERGE)
    assert code == 200
    assert changed["data"] == {"a": "1", "b": "2", "c": "3"}
    assert len(world.calls) == 3  # the outer one, the inner one, and the outer one again


async def test_a_replacement_of_a_version_is_a_conflict_when_that_goes_by_while_a_webhook_is_asked(
    world: World,
) -> None:
    """An update with a resourceVersion is a conflict if another write came first."""
    _, made = await world.create()
    writing = False

    async def interrupt(review: Review) -> Review:
        nonlocal writing
        if not writing:
            writing = True
            await world.ask("PATCH", f"{CONFIGMAPS}/a", {"data": {"b": "2"}}, headers=MERGE)
        return allowed(review)

    world.replies["/v"] = interrupt
    await world.hook("v")
    code, status = await world.ask("PUT", f"{CONFIGMAPS}/a", {**made, "data": {"c": "3"}})
    assert (code, status["reason"]) == (409, "Conflict")


async def test_a_name_that_is_taken_while_a_webhook_is_asked_is_a_conflict(world: World) -> None:
    """Of two creates of one name that are both admitted, the later one fails with AlreadyExists."""

    async def slow(review: Review) -> Review:
        await asyncio.sleep(1)
        return allowed(review)

    world.replies["/v"] = slow
    await world.hook("v")
    answers = await asyncio.gather(world.create(), world.create())
    assert sorted(code for code, _ in answers) == [201, 409]


async def test_webhooks_are_called_in_the_order_of_configurations_and_again_where_they_ask_for_it(
    world: World,
) -> None:
    """A webhook with reinvocationPolicy IfNeeded is called again if a later one changes the object."""
    world.replies["/b"] = patching({"op": "add", "path": "/data/b", "value": "1"})
    await world.hook("b", mutating=True)
    await world.hook("a", {"reinvocationPolicy": "IfNeeded"}, mutating=True)
    await world.hook("c", {"reinvocationPolicy": "IfNeeded"}, mutating=True)
    await world.create(data={"x": "y"})
    assert world.asked == ["/a", "/b", "/c", "/a"]


async def test_validating_webhooks_are_asked_at_the_same_time(world: World) -> None:
    """Ten validating webhooks of one second each take one second."""

    async def slow(review: Review) -> Review:
        await asyncio.sleep(1)
        return allowed(review)

    world.replies["/v"] = slow
    hooks = [
        {"name": f"v{index}.example.com", "clientConfig": {"url": "https://h.example.com/v"}} for index in range(9)
    ]
    await world.hook("v", *hooks)
    began = asyncio.get_running_loop().time()
    assert (await world.create())[0] == 201
    assert asyncio.get_running_loop().time() - began == pytest.approx(1)
    assert len(world.calls) == 9


async def test_a_delete_shows_the_old_object_and_what_deletes_a_collection_no_name(world: World) -> None:
    """A deletecollection calls the webhook for each object, with an empty request name."""
    await world.create("a")
    await world.create("b")
    await world.hook("v")
    await world.ask("DELETE", f"{CONFIGMAPS}/a", {"gracePeriodSeconds": 5})
    await world.ask("DELETE", CONFIGMAPS)
    asked = [review["request"] for _, review in world.calls]
    shown = [(each.get("name"), each["oldObject"]["metadata"]["name"]) for each in asked]
    assert shown == [("a", "a"), (None, "b")]
    assert asked[0]["object"] is None
    assert asked[0]["options"]["gracePeriodSeconds"] == 5


async def test_sub_resources_are_reviewed_as_what_they_are(world: World) -> None:
    """The scale of a Deployment is reviewed as a Scale, and a webhook can change it."""
    world.replies["/m"] = patching({"op": "replace", "path": "/spec/replicas", "value": 2})
    rule = {**CONFIGMAP_RULE, "apiGroups": ["apps"], "resources": ["deployments/scale"]}
    await world.hook("m", {"rules": [rule]}, mutating=True)
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    deployments = "/apis/apps/v1/namespaces/default/deployments"
    await world.ask("POST", deployments, {"metadata": {"name": "d"}, "spec": spec})
    code, scale = await world.ask("PATCH", f"{deployments}/d/scale", {"spec": {"replicas": 9}}, headers=MERGE)
    assert (code, scale["spec"]["replicas"]) == (200, 2)
    asked = world.calls[0][1]["request"]
    assert asked["kind"] == {"group": "autoscaling", "version": "v1", "kind": "Scale"}
    assert (asked["resource"]["resource"], asked["subResource"]) == ("deployments", "scale")


@pytest.mark.parametrize(
    ("operation", "why"),
    [
        (
            {"op": "remove", "path": "/data/x"},
            "error in remove for path: '/data/x': Unable to remove nonexistent key: x: missing value",
        ),
        ({"op": "test", "path": "/kind", "value": "Pod"}, "testing value /kind failed: test failed"),
        (
            {"op": "add", "path": "/data", "value": "text"},
            "json: cannot unmarshal string into Go struct field ConfigMap.data of type map[string]string",
        ),
    ],
)
async def test_a_patch_that_does_not_apply_is_the_webhooks_fault(
    world: World, operation: dict[str, Any], why: str
) -> None:
    """The response is a 500 with any failure policy."""
    world.replies["/m"] = patching(operation)
    await world.hook("m", {"failurePolicy": "Ignore"}, mutating=True)
    code, status = await world.create(data={"a": "b"})
    assert code == 500
    assert status["message"] == f"Internal error occurred: {why}"


async def test_who_wants_an_answer_at_once_is_told_that_a_webhook_must_be_called(world: World) -> None:
    """`handle_nowait` raises an error and changes nothing."""
    await world.hook("v")
    with pytest.raises(RuntimeError, match=r"await ApiServer\.handle"):
        world.server.handle_nowait("POST", CONFIGMAPS, body=b'{"metadata":{"name":"a"}}')
    assert (await world.ask("GET", f"{CONFIGMAPS}/a"))[0] == 404


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"name": "short"}, "should be a domain with at least three segments separated by dots"),
        ({"clientConfig": {}}, "webhooks[0].clientConfig: Required value: exactly one of url or service is required"),
        ({"clientConfig": {"url": "http://a/"}}, "'https' is the only allowed URL scheme; desired format"),
        ({"sideEffects": "Some"}, 'supported values: "None", "NoneOnDryRun"'),
        ({"timeoutSeconds": 31}, "the timeout value must be between 1 and 30 seconds"),
        ({"admissionReviewVersions": ["v2"]}, "must include at least one of v1, v1beta1"),
        (
            {"rules": [{**CONFIGMAP_RULE, "resources": ["*", "pods"]}]},
            "if '*' is present, must not specify other resources without subresources",
        ),
        ({"matchConditions": [{"name": "c", "expression": "1"}]}, "must evaluate to bool but got int"),
        ({"matchConditions": [{"name": "c", "expression": "nix"}]}, "undeclared reference to 'nix' (in container '')"),
    ],
)
async def test_a_configuration_that_cannot_work_is_refused(world: World, change: dict[str, Any], why: str) -> None:
    """The messages are kube-apiserver's."""
    body = {"metadata": {"name": "v"}, "webhooks": [webhook("v.example.com", **change)]}
    path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
    code, status = await world.ask("POST", path, body)
    assert code == 422
    assert why in status["message"]
