"""Admission webhooks: matching, requests, and the effects of responses. In process, in virtual time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pyctrl.apiserver import WebhookResponse, WebhookUnreachable
from tests.unit.apiserver._hooks import CONFIGMAP_RULE, Review, World, allowed, answered, denied, patching, webhook
from tests.unit.apiserver._kit import CONFIGMAPS, MERGE


@pytest.fixture
def world() -> World:
    """A server that calls webhooks in this process."""
    return World()


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


@pytest.mark.parametrize(
    ("reply", "code", "message"),
    [
        (denied, 400, "without explanation"),
        (lambda review: denied(review, "no"), 400, ": no"),
        (lambda review: denied(review, reason="Because"), 400, ": Because"),
        (lambda review: denied(review, "no", code=409), 409, ": no"),
        (lambda review: denied(review, "no", code=200), 400, ": no"),
    ],
)
async def test_a_denial_is_told_in_the_webhooks_own_words(world: World, reply: Any, code: int, message: str) -> None:
    """Code, reason and message are the webhook's; a success code becomes 400."""
    world.replies["/v"] = reply
    await world.hook("v")
    separator = "" if message.startswith(":") else " "
    refused, status = await world.create()
    assert refused == code
    assert status["message"] == f'admission webhook "v.example.com" denied the request{separator}{message}'
    assert (await world.ask("GET", f"{CONFIGMAPS}/a"))[0] == 404


def _unreachable(_review: Review) -> Any:
    raise WebhookUnreachable("dial tcp 192.0.2.1:443: connect: connection refused")


def _status(code: int, body: bytes = b"", kind: str = "application/json") -> Any:
    return lambda _review: WebhookResponse(body=body, status=code, content_type=kind)


_POST = 'failed to call webhook: Post "https://hooks.example.com/v?timeout=10s"'
_SERVER = "failed to call webhook: an error on the server"


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (_unreachable, f"{_POST}: dial tcp 192.0.2.1:443: connect: connection refused"),
        (_status(500, b"{}"), f'{_SERVER} ("unknown") has prevented the request from succeeding'),
        (_status(500, b"boom\n", "text/plain"), f'{_SERVER} ("boom") has prevented the request from succeeding'),
        (_status(404), "failed to call webhook: the server could not find the requested resource"),
        (
            _status(200),
            "failed to call webhook: 0-length response with status code: 200 and content type: application/json",
        ),
        (lambda review: {**allowed(review), "response": None}, "webhook response was absent"),
        (
            lambda review: {**allowed(review), "apiVersion": "admission.k8s.io/v1beta1"},
            "converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion",
        ),
        (
            lambda review: answered(review, allowed="yes"),
            "json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool",
        ),
        (patching({"op": "remove", "path": "/data"}), "validating webhook may not return response.patch"),
    ],
)
async def test_a_webhook_that_fails_refuses_unless_it_may_be_ignored(world: World, reply: Any, why: str) -> None:
    """With failurePolicy Fail the write fails with a 500 and the error; with Ignore it succeeds."""
    world.replies["/v"] = reply
    await world.hook("v")
    code, status = await world.create()
    assert code == 500
    assert status["message"].startswith('Internal error occurred: failed calling webhook "v.example.com": ')
    assert status["message"].endswith(why)
    fails_open = [{"op": "replace", "path": "/webhooks/0/failurePolicy", "value": "Ignore"}]
    path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/v"
    await world.ask("PATCH", path, fails_open, headers={"Content-Type": "application/json-patch+json"})
    assert (await world.create())[0] == 201


async def test_a_slow_webhook_is_waited_for_no_longer_than_its_timeout(world: World) -> None:
    """The timeout runs on the loop's clock."""

    async def slow(review: Review) -> Review:
        await asyncio.sleep(60)
        return allowed(review)

    world.replies["/v"] = slow
    await world.hook("v", {"timeoutSeconds": 3})
    began = asyncio.get_running_loop().time()
    code, status = await world.create()
    assert asyncio.get_running_loop().time() - began == pytest.approx(3)
    assert code == 500
    assert status["message"].endswith('Post "https://hooks.example.com/v?timeout=3s": context deadline exceeded')


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


@pytest.mark.parametrize(
    ("hook", "is_called"),
    [
        ({}, True),
        ({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "default"}}}, True),
        ({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "other"}}}, False),
        ({"objectSelector": {"matchLabels": {"x": "y"}}}, True),
        ({"objectSelector": {"matchLabels": {"x": "z"}}}, False),
        ({"rules": [{**CONFIGMAP_RULE, "operations": ["UPDATE"]}]}, False),
        ({"rules": [{**CONFIGMAP_RULE, "resources": ["*"]}]}, True),
        ({"rules": [{**CONFIGMAP_RULE, "resources": ["*/*"]}]}, True),
        ({"rules": [{**CONFIGMAP_RULE, "resources": ["configmaps/*"]}]}, True),
        ({"rules": [{**CONFIGMAP_RULE, "resources": ["configmaps/status"]}]}, False),
        ({"rules": [{**CONFIGMAP_RULE, "apiGroups": ["apps"]}]}, False),
        ({"rules": [{**CONFIGMAP_RULE, "scope": "Cluster"}]}, False),
        ({"rules": [{**CONFIGMAP_RULE, "scope": "Namespaced"}]}, True),
        ({"matchConditions": [{"name": "c", "expression": "object.metadata.name == 'a'"}]}, True),
        ({"matchConditions": [{"name": "c", "expression": "request.operation == 'DELETE'"}]}, False),
    ],
)
async def test_rules_selectors_and_conditions_say_who_is_called(
    world: World, hook: dict[str, Any], is_called: bool
) -> None:
    """A webhook is called for a write that matches rules, selectors and conditions."""
    await world.hook("v", hook)
    await world.ask("POST", CONFIGMAPS, {"metadata": {"name": "a", "labels": {"x": "y"}}})
    assert bool(world.calls) is is_called


async def test_a_condition_without_a_value_is_what_the_failure_policy_says(world: World) -> None:
    """If a match condition fails, failurePolicy Fail rejects the write, and Ignore skips the webhook."""
    condition = {"name": "c", "expression": "object.metadata.labels.x == 'y'"}
    await world.hook("v", {"matchConditions": [condition]})
    code, status = await world.create()
    assert code == 403
    why = "expression 'object.metadata.labels.x == 'y'' resulted in error: no such key: labels"
    assert status["message"] == f'configmaps "a" is forbidden: {why}'
    assert world.calls == []


async def test_another_version_of_a_resource_matches_unless_exactly_one_is_wanted(world: World) -> None:
    """With matchPolicy Equivalent the webhook gets the object in the version of its rule."""
    rule = {**CONFIGMAP_RULE, "apiGroups": ["autoscaling"], "apiVersions": ["v1"]}
    resources = {"rules": [{**rule, "resources": ["horizontalpodautoscalers"]}]}
    await world.hook("v", resources)
    await world.hook("exact", {**resources, "matchPolicy": "Exact"})
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
    body = {"metadata": {"name": "a"}, "spec": {"scaleTargetRef": target, "maxReplicas": 3}}
    code, _ = await world.ask("POST", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", body)
    assert code == 201
    assert world.asked == ["/v"]
    asked = world.calls[0][1]["request"]
    assert (asked["kind"]["version"], asked["requestKind"]["version"]) == ("v1", "v2")
    assert asked["object"]["apiVersion"] == "autoscaling/v1"
    assert asked["object"]["spec"]["targetCPUUtilizationPercentage"] == 80


async def test_configurations_themselves_are_shown_to_nobody(world: World) -> None:
    """A webhook that denies all writes can still be deleted."""
    everything = {"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"], "operations": ["*"]}
    world.replies["/v"] = denied
    await world.hook("v", {"rules": [everything]})
    path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/v"
    assert (await world.ask("DELETE", path))[0] == 200
    assert (await world.create())[0] == 201


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


async def test_warnings_reach_the_client_and_annotations_the_audit_log(world: World) -> None:
    """Warnings are response headers, also with a denial."""
    world.replies["/v"] = lambda review: (
        denied(review) | {"response": {"uid": review["request"]["uid"], "allowed": False, "warnings": ["mind the gap"]}}
    )
    await world.hook("v")
    await world.create()
    assert world.warnings == ['299 - "mind the gap"']


async def test_a_service_is_named_as_kubernetes_does(world: World) -> None:
    """The URL of a webhook with a service has the service's DNS name."""
    service = {"namespace": "infra", "name": "guard", "path": "/check", "port": 8443}
    world.replies["/check"] = _unreachable
    await world.hook("v", {"clientConfig": {"service": service}})
    _, status = await world.create()
    assert 'Post "https://guard.infra.svc:8443/check?timeout=10s": dial tcp' in status["message"]


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
