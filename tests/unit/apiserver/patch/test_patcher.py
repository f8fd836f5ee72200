"""Errors of patches that do not decode, which kubectl edit displays."""

from __future__ import annotations

import json
from typing import Any

from tests.unit.apiserver._kit import CONFIGMAPS, MERGE, Asker
from tests.unit.apiserver._objects import GROUP, definition, thing

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"


STRATEGIC = {"Content-Type": "application/strategic-merge-patch+json"}


def deployment() -> dict[str, Any]:
    labels = {"app": "a"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    return {"metadata": {"name": "a"}, "spec": {"selector": {"matchLabels": labels}, "template": template}}


def test_a_strict_strategic_patch_shows_itself(ask: Asker) -> None:
    """A patch with an unknown field is 422 and shows the patch, so that kubectl edit opens the editor again."""
    ask("POST", DEPLOYMENTS, deployment())
    patch = {"spec": {"replica": 2, "paused": None, "template": {"spec": {"containers": [{"name": "c", "x": True}]}}}}

    code, told = ask("PATCH", f"{DEPLOYMENTS}/a", patch, headers=STRATEGIC, fieldValidation="Strict")

    shown = "map[spec:map[paused:<nil> replica:2 template:map[spec:map[containers:[map[name:c x:true]]]]]]"
    assert (code, told["reason"]) == (422, "Invalid")
    assert told["message"].startswith(
        f' "" is invalid: patch: Invalid value: "{shown}": strict decoding error: unknown'
    )
    assert [cause["field"] for cause in told["details"]["causes"]] == ["patch"]


def test_a_strict_merge_patch_shows_what_came_of_it(ask: Asker) -> None:
    """A merge patch with an unknown field is 422 and shows the patched object."""
    ask.make("a")

    code, told = ask("PATCH", f"{CONFIGMAPS}/a", {"nosuch": 1}, headers=MERGE, fieldValidation="Strict")

    assert code == 422
    assert '\\"kind\\":\\"ConfigMap\\"' in told["message"]
    assert told["message"].endswith('strict decoding error: unknown field "nosuch"')


def test_a_patch_to_the_wrong_type_shows_what_came_of_it(ask: Asker) -> None:
    """A merge patch whose result does not decode is 422, with the reason of Go's decoder."""
    ask.make("a")

    code, told = ask("PATCH", f"{CONFIGMAPS}/a", {"data": 5}, headers=MERGE)

    assert code == 422
    reason = "json: cannot unmarshal number into Go struct field ConfigMap.data of type map[string]string"
    assert told["message"].endswith(reason)


def test_custom_resources_take_no_strategic_merge_patch(ask: Asker) -> None:
    """A strategic merge patch of a custom resource is 415: its schema has no merge keys."""
    ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition({"type": "object"}))
    ask("POST", f"/apis/{GROUP}/v1/namespaces/default/things", thing())

    path = f"/apis/{GROUP}/v1/namespaces/default/things/a"
    code, told = ask("PATCH", path, {"metadata": {"labels": {"k": "v"}}}, headers=STRATEGIC)

    assert (code, told["reason"]) == (415, "UnsupportedMediaType")
    assert ask("PATCH", path, {"metadata": {"labels": {"k": "v"}}}, headers=MERGE)[0] == 200


def test_null_is_no_merge_patch(ask: Asker) -> None:
    """The error is that of the library of kube-apiserver, which reads null as JSON, but not as a patch."""
    ask.make("a")
    answer = ask.server.handle_nowait("PATCH", f"{CONFIGMAPS}/a", headers=MERGE, body=b"null")
    assert isinstance(answer.body, bytes)
    assert (answer.status, json.loads(answer.body)["message"]) == (400, "Invalid JSON Patch")
