"""Reviews of admission webhooks: requests, denials, warnings."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.apiserver._hooks import CONFIGMAP_RULE, World, denied, patching
from tests.unit.apiserver._kit import CONFIGMAPS, MERGE


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


async def test_warnings_reach_the_client_and_annotations_the_audit_log(world: World) -> None:
    """Warnings are response headers, also with a denial."""
    world.replies["/v"] = lambda review: (
        denied(review) | {"response": {"uid": review["request"]["uid"], "allowed": False, "warnings": ["mind the gap"]}}
    )
    await world.hook("v")
    await world.create()
    assert world.warnings == ['299 - "mind the gap"']


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
