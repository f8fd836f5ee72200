"""Admission webhooks: matching, requests, and the effects of responses. In process, in virtual time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pyctrl.apiserver import WebhookUnreachable
from tests.unit.apiserver._hooks import CONFIGURATIONS, Review, World, allowed, patching
from tests.unit.apiserver._kit import CONFIGMAPS, MERGE


async def test_a_mutating_webhook_sees_what_was_sent_a_validating_one_what_will_be_stored(world: World) -> None:
    """Both webhooks get defaults and the request's name; only the validating one gets the server's fields."""
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
    """The patch is applied to the current object and admitted again, so that no write is lost."""
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
    assert len(world.calls) == 3  # outer, inner, and outer again


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
    """A webhook's patch that cannot be applied is a 500 with any failure policy."""
    world.replies["/m"] = patching(operation)
    await world.hook("m", {"failurePolicy": "Ignore"}, mutating=True)
    code, status = await world.create(data={"a": "b"})
    assert code == 500
    assert status["message"] == f"Internal error occurred: {why}"


async def test_who_wants_an_answer_at_once_is_told_that_a_webhook_must_be_called(world: World) -> None:
    """`handle_nowait` raises an error if a webhook must be called, and changes nothing."""
    await world.hook("v")
    with pytest.raises(RuntimeError, match=r"await ApiServer\.handle"):
        world.server.handle_nowait("POST", CONFIGMAPS, body=b'{"metadata":{"name":"a"}}')
    assert (await world.ask("GET", f"{CONFIGMAPS}/a"))[0] == 404


async def test_a_mutating_webhook_that_fails_refuses_unless_it_may_be_ignored(world: World) -> None:
    """With failurePolicy Fail a write fails with its mutating webhook; with Ignore it is stored without the change."""

    def unreachable(_review: Review) -> Any:
        raise WebhookUnreachable("connection refused")

    world.replies["/m"] = unreachable
    await world.hook("m", {"failurePolicy": "Fail"}, mutating=True)
    code, status = await world.create("a")
    assert (code, "connection refused" in status["message"]) == (500, True)
    assert (await world.ask("GET", f"{CONFIGMAPS}/a"))[0] == 404

    await world.ask("DELETE", f"{CONFIGURATIONS}/mutatingwebhookconfigurations/m")
    await world.hook("m", {"failurePolicy": "Ignore"}, mutating=True)
    assert (await world.create("a"))[0] == 201
