"""Conversion webhooks of custom resources."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from pyctrl.apiserver import WebhookResponse
from tests.unit.apiserver._hooks import World, allowed, patching
from tests.unit.apiserver._kit import MERGE, Asker

GROUP = "convert.example.com"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
APPLY = {"Content-Type": "application/apply-patch+yaml"}


def _definition(conversion: Any, storage: str = "v1") -> dict[str, Any]:
    """Return the definition of Thing: v1 has host and port, v2 has both in one field, and a default."""
    fields = {
        "v1": {"host": {"type": "string"}, "port": {"type": "integer"}},
        "v2": {"address": {"type": "string"}, "mode": {"type": "string", "default": "quick"}},
    }
    versions = [
        {
            "name": version,
            "served": True,
            "storage": version == storage,
            "subresources": {"status": {}},
            "schema": {
                "openAPIV3Schema": {
                    "type": "object",
                    "properties": {"spec": {"type": "object", "properties": properties}, "status": {"type": "object"}},
                }
            },
        }
        for version, properties in fields.items()
    ]
    return {
        "metadata": {"name": f"things.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": "things", "kind": "Thing"},
            "versions": versions,
            "conversion": conversion,
        },
    }


WEBHOOK = {
    "strategy": "Webhook",
    "webhook": {"clientConfig": {"url": "https://hooks.example.com/convert"}, "conversionReviewVersions": ["v1"]},
}


def _convert(review: dict[str, Any]) -> dict[str, Any]:
    wanted = review["request"]["desiredAPIVersion"]
    converted = [_as(obj, wanted) for obj in copy.deepcopy(review["request"]["objects"])]
    response = {"uid": review["request"]["uid"], "convertedObjects": converted, "result": {"status": "Success"}}
    return {"apiVersion": review["apiVersion"], "kind": "ConversionReview", "response": response}


def _as(obj: dict[str, Any], wanted: str) -> dict[str, Any]:
    spec = obj.setdefault("spec", {})
    if wanted.endswith("v2"):
        spec["address"] = f"{spec.pop('host', '')}:{spec.pop('port', 0)}"
    else:
        host, _, port = spec.pop("address", "").partition(":")
        spec.update(host=host, port=int(port or 0))
    return {**obj, "apiVersion": wanted}


def _path(version: str, name: str = "") -> str:
    return f"/apis/{GROUP}/{version}/namespaces/default/things{'/' if name else ''}{name}"


def _thing(version: str, name: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": f"{GROUP}/{version}", "kind": "Thing", "metadata": {"name": name}, "spec": spec}


@pytest.fixture
async def world() -> World:
    """A server with the definition of Thing, whose versions a webhook converts."""
    world = World()
    world.replies["/convert"] = _convert
    assert (await world.ask("POST", DEFINITIONS, _definition(WEBHOOK)))[0] == 201
    return world


async def test_every_read_shows_the_version_that_is_asked_for(world: World) -> None:
    """get, list and tables return objects converted from the storage version."""
    await world.ask("POST", _path("v1"), _thing("v1", "a", host="h", port=1))
    _, made = await world.ask("POST", _path("v2"), _thing("v2", "b", address="x:2"))
    assert made["spec"] == {"address": "x:2"}  # v1, the stored version, lacks the default of v2
    assert (await world.ask("GET", _path("v1", "b")))[1]["spec"] == {"host": "x", "port": 2}
    _, listed = await world.ask("GET", _path("v2"))
    assert [item["spec"]["address"] for item in listed["items"]] == ["h:1", "x:2"]
    assert {item["apiVersion"] for item in listed["items"]} == {f"{GROUP}/v2"}


async def test_a_write_in_another_version_is_stored_in_the_storage_version(world: World) -> None:
    """Patch and apply use the version of the request; labels are kept."""
    await world.ask("POST", _path("v1"), _thing("v1", "a", host="h", port=1))
    code, patched = await world.ask("PATCH", _path("v2", "a"), {"spec": {"address": "n:9"}}, headers=MERGE)
    assert (code, patched["metadata"]["generation"]) == (200, 2)
    body = {**_thing("v2", "a"), "metadata": {"name": "a", "labels": {"l": "m"}}}
    code, applied = await world.ask("PATCH", _path("v2", "a"), body, headers=APPLY, fieldManager="me")
    assert (code, applied["spec"]["address"]) == (200, "n:9")
    _, found = await world.ask("GET", _path("v1", "a"))
    assert (found["spec"], found["metadata"]["labels"]) == ({"host": "n", "port": 9}, {"l": "m"})
    assert found["metadata"]["resourceVersion"] == applied["metadata"]["resourceVersion"]


async def test_watchers_of_each_version_see_their_own(world: World) -> None:
    """Events are converted, also of objects written while the watch runs."""
    await world.ask("POST", _path("v1"), _thing("v1", "a", host="h", port=1))
    async with Asker(world.server).watching(_path("v2")) as watching:
        first = await watching.next()
        await world.ask("PATCH", _path("v1", "a"), {"spec": {"port": 7}}, headers=MERGE)
        second = await watching.next()
        await world.ask("DELETE", _path("v1", "a"))
        third = await watching.next()
    assert first is not None
    assert second is not None
    assert third is not None
    assert [event["type"] for event in (first, second, third)] == ["ADDED", "MODIFIED", "DELETED"]
    assert [event["object"]["spec"]["address"] for event in (first, second, third)] == ["h:1", "h:7", "h:7"]


async def test_a_watch_ends_with_an_error_when_the_webhook_fails(world: World) -> None:
    """The watch ends with an error instead of a wrong or skipped event."""
    async with Asker(world.server).watching(_path("v2")) as watching:
        world.replies["/convert"] = lambda _: WebhookResponse(status=500, body=b"{}")
        await world.ask("POST", _path("v1"), _thing("v1", "a", host="h", port=1))
        event = await watching.next()
        assert event is not None
        assert (event["type"], event["object"]["code"]) == ("ERROR", 500)
        assert await watching.next() is None


def _with(change: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], Any]:
    def reply(review: dict[str, Any]) -> dict[str, Any]:
        answer = _convert(review)
        change(answer["response"])
        return answer

    return reply


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (
            lambda _: WebhookResponse(status=503, body=b""),
            "failed: the server is currently unable to handle the request",
        ),
        (_with(lambda response: response.update(result={"status": "Failure", "message": "cannot"})), "failed: cannot"),
        (
            _with(lambda response: response.pop("result")),
            "failed: response.result.status was '', not 'Success'",
        ),
        (_with(lambda response: response.update(convertedObjects=[])), "returned 0 objects, expected 1"),
        (
            _with(lambda response: response["convertedObjects"][0].update(kind="Other")),
            "returned invalid object at index 0: invalid kind (expected Thing, received Other)",
        ),
        (
            _with(lambda response: response["convertedObjects"][0]["metadata"].update(name="z")),
            "returned invalid object: must have the same name: a != z",
        ),
        (
            _with(lambda response: response["convertedObjects"][0]["metadata"].update(labels={"a": 1})),
            "returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object",
        ),
    ],
)
async def test_a_webhook_that_fails_fails_the_request(world: World, reply: Any, why: str) -> None:
    """The message has the webhook's kind and the error."""
    await world.ask("POST", _path("v1"), _thing("v1", "a", host="h", port=1))
    world.replies["/convert"] = reply
    code, status = await world.ask("GET", _path("v2", "a"))
    assert code == 500
    assert status["message"] == f"conversion webhook for {GROUP}/v1, Kind=Thing {why}"


async def test_a_webhook_may_change_labels_and_no_other_metadata(world: World) -> None:
    """A webhook cannot change metadata such as name, uid and finalizers."""
    change = {"labels": {"new": "label"}, "finalizers": ["example.com/mine"], "generation": 77}
    await world.ask("POST", _path("v1"), _thing("v1", "a", host="h", port=1))
    world.replies["/convert"] = _with(lambda response: response["convertedObjects"][0]["metadata"].update(change))
    _, found = await world.ask("GET", _path("v2", "a"))
    assert found["metadata"]["labels"] == {"new": "label"}
    assert found["metadata"]["generation"] == 1
    assert "finalizers" not in found["metadata"]


async def test_a_write_that_is_overtaken_while_it_is_converted_begins_anew(world: World) -> None:
    """A write during the conversion is not lost."""
    await world.ask("POST", _path("v1"), _thing("v1", "a", host="h", port=1))

    async def slow(review: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(1)
        return _convert(review)

    world.replies["/convert"] = slow
    label = {"metadata": {"labels": {"a": "b"}}}
    first = asyncio.create_task(world.ask("PATCH", _path("v2", "a"), label, headers=MERGE))
    await asyncio.sleep(1.5)
    assert (await world.ask("PATCH", _path("v1", "a"), {"spec": {"port": 5}}, headers=MERGE))[0] == 200
    assert (await first)[0] == 200
    _, found = await world.ask("GET", _path("v1", "a"))
    assert (found["spec"]["port"], found["metadata"]["labels"]) == (5, {"a": "b"})


async def test_an_object_with_finalizers_can_be_deleted_through_any_version(world: World) -> None:
    """Deletion changes only the metadata of the object, in all versions."""
    thing = _thing("v1", "a", host="h", port=1)
    await world.ask("POST", _path("v1"), {**thing, "metadata": {"name": "a", "finalizers": ["example.com/mine"]}})
    code, held = await world.ask("DELETE", _path("v2", "a"))
    assert code == 200
    assert held["metadata"]["deletionTimestamp"]
    assert held["spec"] == {"address": "h:1"}
    _, freed = await world.ask("PATCH", _path("v2", "a"), {"metadata": {"finalizers": None}}, headers=MERGE)
    assert "deletionTimestamp" in freed["metadata"]
    assert (await world.ask("GET", _path("v1", "a")))[0] == 404


async def test_a_webhook_of_admission_gets_the_version_of_its_rule(world: World) -> None:
    """A write in v2 is reviewed in v1, and the patch is converted back."""
    rule = {"apiGroups": [GROUP], "apiVersions": ["v1"], "resources": ["things"], "operations": ["CREATE"]}
    world.replies["/m"] = patching({"op": "replace", "path": "/spec/port", "value": 9})
    world.replies["/v"] = allowed
    await world.hook("m", {"rules": [rule]}, mutating=True)
    _, made = await world.ask("POST", _path("v2"), _thing("v2", "a", address="x:2"))
    assert made["spec"]["address"] == "x:9"
    shown = next(review for path, review in world.calls if path == "/m")
    assert shown["request"]["object"]["spec"] == {"host": "x", "port": 2}


def test_without_a_webhook_objects_keep_what_the_storage_version_knows(ask: Asker) -> None:
    """Strategy None changes only the apiVersion; fields and defaults are those of the storage version."""
    assert ask("POST", DEFINITIONS, _definition({"strategy": "None"}))[0] == 201
    _, made = ask("POST", _path("v2"), _thing("v2", "a", address="x:2"))
    assert made["spec"] == {}
    _, found = ask("GET", _path("v1", "a"))
    assert json.dumps(found["spec"]) == "{}"


@pytest.mark.parametrize(
    ("webhook", "why"),
    [
        (None, "spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook"),
        ({"clientConfig": {"url": "http://a/"}}, "'https' is the only allowed URL scheme"),
        (
            {"clientConfig": {"url": "https://a/"}, "conversionReviewVersions": ["v2"]},
            'spec.conversion.conversionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, v1beta1',
        ),
    ],
)
def test_a_conversion_that_cannot_work_is_refused(ask: Asker, webhook: Any, why: str) -> None:
    """The messages are kube-apiserver's."""
    code, status = ask("POST", DEFINITIONS, _definition({"strategy": "Webhook", "webhook": webhook}))
    assert code == 422
    assert why in status["message"]
