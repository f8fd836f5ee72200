"""Stored definitions: establishing, deletion with their objects, the scale subresource."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.apiserver._kit import CONFIGMAPS, MERGE, Asker

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
THINGS = "/apis/x.io/v1/namespaces/default/things"


def definition(*versions: str) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": {"count": {"type": "integer"}, "on": {"type": "boolean"}}},
            "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        },
    }
    scale = {
        "specReplicasPath": ".spec.count",
        "statusReplicasPath": ".status.count",
        "labelSelectorPath": ".status.selector",
    }
    return {
        "metadata": {"name": "things.x.io"},
        "spec": {
            "group": "x.io",
            "scope": "Namespaced",
            "names": {"plural": "things", "kind": "Thing"},
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": version == versions[-1],
                    "schema": {"openAPIV3Schema": schema},
                    "subresources": {"status": {}, "scale": scale},
                }
                for version in versions
            ],
        },
    }


def install(ask: Asker, *versions: str) -> None:
    code, made = ask("POST", DEFINITIONS, definition(*versions or ("v1",)))
    assert code == 201, made


def test_a_definition_is_established_and_served(ask: Asker) -> None:
    """A created definition is established and in discovery at once, and its objects can be created."""
    assert ask.answer("GET", THINGS).status == 404
    install(ask)
    _, found = ask("GET", f"{DEFINITIONS}/things.x.io")
    assert {each["type"]: each["status"] for each in found["status"]["conditions"]} == {
        "NamesAccepted": "True",
        "Established": "True",
    }
    assert "things" in [each["name"] for each in ask("GET", "/apis/x.io/v1")[1]["resources"]]
    assert ask("POST", THINGS, {"apiVersion": "x.io/v1", "kind": "Thing", "metadata": {"name": "a"}})[0] == 201


def test_versions_share_their_objects(ask: Asker) -> None:
    """An object written in one version can be read, listed and watched in the other."""
    install(ask, "v1", "v2")
    ask("POST", THINGS, {"apiVersion": "x.io/v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": {"count": 1}})
    other = THINGS.replace("v1", "v2")
    assert ask("GET", f"{other}/a")[1]["apiVersion"] == "x.io/v2"
    assert [item["apiVersion"] for item in ask("GET", other)[1]["items"]] == ["x.io/v2"]
    assert ask("GET", f"{THINGS}/a")[1]["apiVersion"] == "x.io/v1"


def test_a_definition_goes_after_its_objects(ask: Asker) -> None:
    """A deleted definition deletes its objects; an object with a finalizer blocks the deletion."""
    install(ask)
    for name, finalizers in (("a", []), ("b", ["x.io/f"])):
        body = {"apiVersion": "x.io/v1", "kind": "Thing", "metadata": {"name": name, "finalizers": finalizers}}
        assert ask("POST", THINGS, body)[0] == 201
    assert "deletionTimestamp" in ask("DELETE", f"{DEFINITIONS}/things.x.io")[1]["metadata"]
    assert [item["metadata"]["name"] for item in ask("GET", THINGS)[1]["items"]] == ["b"]
    assert ask("GET", f"{DEFINITIONS}/things.x.io")[0] == 200
    assert ask("PATCH", f"{THINGS}/b", {"metadata": {"finalizers": None}}, headers=MERGE)[0] == 200
    assert ask("GET", f"{DEFINITIONS}/things.x.io")[0] == 404
    assert ask.answer("GET", THINGS).status == 404


def test_scale_reads_and_writes_the_paths_of_the_definition(ask: Asker) -> None:
    """The scale of a custom resource reads and writes the paths in its definition."""
    install(ask)
    ask("POST", THINGS, {"apiVersion": "x.io/v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": {"count": 3}})
    ask("PATCH", f"{THINGS}/a/status", {"status": {"count": 2, "selector": "a=b"}}, headers=MERGE)
    _, scale = ask("GET", f"{THINGS}/a/scale")
    assert (scale["spec"], scale["status"]) == ({"replicas": 3}, {"replicas": 2, "selector": "a=b"})
    code, scaled = ask("PATCH", f"{THINGS}/a/scale", {"spec": {"replicas": 5}}, headers=MERGE)
    assert (code, scaled["spec"]) == (200, {"replicas": 5})
    _, thing = ask("GET", f"{THINGS}/a")
    assert (thing["spec"]["count"], thing["metadata"]["generation"]) == (5, 2)
    assert ask("PUT", f"{THINGS}/a/scale", {**scale, "spec": {"replicas": 1}})[0] == 409


def test_a_built_in_kind_without_the_door_has_no_scale(ask: Asker) -> None:
    """The scale of a ConfigMap is a 404."""
    ask.make("a")
    assert ask("GET", f"{CONFIGMAPS}/a/scale")[0] == 404


def test_metadata_that_a_schema_requires_is_there(ask: Asker) -> None:
    """Required metadata is not reported as missing among other errors."""
    made = definition("v1")
    schema = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["required"] = ["metadata", "spec"]
    schema["properties"]["spec"]["required"] = ["count"]
    assert ask("POST", DEFINITIONS, made)[0] == 201
    thing = {"apiVersion": "x.io/v1", "kind": "Thing", "metadata": {"name": "a"}}
    code, refused = ask("POST", THINGS, {**thing, "spec": {}})
    assert (code, [each["field"] for each in refused["details"]["causes"]]) == (422, ["spec.count"])
    assert ask("POST", THINGS, {**thing, "spec": {"count": 1}})[0] == 201


def test_a_definition_without_objects_that_is_kept_says_so(ask: Asker) -> None:
    """Another finalizer keeps a deleted definition; the condition says that its objects are gone."""
    body = definition("v1")
    body["metadata"]["finalizers"] = ["example.com/hold"]
    assert ask("POST", DEFINITIONS, body)[0] == 201
    ask("DELETE", f"{DEFINITIONS}/things.x.io")
    found = ask("GET", f"{DEFINITIONS}/things.x.io")[1]
    terminating = next(each for each in found["status"]["conditions"] if each["type"] == "Terminating")
    assert found["metadata"]["finalizers"] == ["example.com/hold"]
    assert (terminating["status"], terminating["reason"]) == ("False", "InstanceDeletionCompleted")


THING = {"apiVersion": "x.io/v1", "kind": "Thing", "metadata": {"name": "a"}}


def test_a_post_to_a_name_creates_the_object_of_the_body(ask: Asker) -> None:
    """For custom resources the name in the URL of a POST does not matter."""
    assert ask("POST", DEFINITIONS, definition("v1"))[0] == 201
    assert ask("POST", f"{THINGS}/b", THING)[1]["metadata"]["name"] == "a"
    assert ask("POST", f"{THINGS}/b", THING)[1]["reason"] == "AlreadyExists"


@pytest.mark.parametrize(
    ("patch", "why"),
    [
        ({"apiVersion": "x.io/v2"}, 'Thing.x.io "a" is invalid: apiVersion: Invalid value: "x.io/v2": must be x.io/v1'),
        (
            {"apiVersion": "v1", "kind": "Pod"},
            '[kind: Invalid value: "Pod": must be Thing, apiVersion: Invalid value: "v1": must be x.io/v1]',
        ),
        ({"apiVersion": "a/b/c"}, "unexpected GroupVersion string: a/b/c"),
        ({"kind": 7}, "json: cannot unmarshal number into Go struct field .kind of type string"),
    ],
)
def test_a_patch_does_not_change_the_kind(ask: Asker, patch: dict[str, Any], why: str) -> None:
    """A patch to another kind or version is invalid."""
    ask("POST", DEFINITIONS, definition("v1"))
    ask("POST", THINGS, THING)
    code, refused = ask("PATCH", f"{THINGS}/a", patch, headers=MERGE)
    assert (code, refused["message"].endswith(why)) == (422, True), refused


def test_a_patch_to_the_status_keeps_kind_and_version(ask: Asker) -> None:
    """Only the status of the patched object counts."""
    ask("POST", DEFINITIONS, definition("v1"))
    ask("POST", THINGS, THING)
    code, found = ask("PATCH", f"{THINGS}/a/status", {"kind": "Other", "status": {"count": 1}}, headers=MERGE)
    assert (code, found["kind"], found["status"]) == (200, "Thing", {"count": 1})


@pytest.mark.parametrize(
    ("accept", "code", "why"),
    [
        ("image/png", 406, "only the following media types are accepted: application/json, "),
        ("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", 500, "content is not a list"),
    ],
)
def test_representations_that_custom_resources_do_not_have(ask: Asker, accept: str, code: int, why: str) -> None:
    """The messages are those of kube-apiserver's server for definitions."""
    ask("POST", DEFINITIONS, definition("v1"))
    ask("POST", THINGS, THING)
    found, refused = ask("GET", f"{THINGS}/a", headers={"Accept": accept})
    assert (found, refused["message"].startswith(why), "details" in refused) == (code, True, False)


def test_the_server_manages_the_status_of_a_definition(ask: Asker) -> None:
    """`kubectl get crd --show-managed-fields` names the server as the manager of names and conditions."""
    made = definition("v1")
    ask("POST", DEFINITIONS, made)
    entries = ask("GET", f"{DEFINITIONS}/{made['metadata']['name']}")[1]["metadata"]["managedFields"]
    (own,) = (each for each in entries if each["manager"] == "kube-apiserver")
    assert (own["operation"], own["subresource"], list(own["fieldsV1"])) == ("Update", "status", ["f:status"])
    assert {"f:acceptedNames", "f:conditions"} <= own["fieldsV1"]["f:status"].keys()


@pytest.mark.parametrize("has_conditions", [True, False])
def test_a_definition_that_serves_nothing_is_deleted_with_its_objects(ask: Asker, *, has_conditions: bool) -> None:
    """Objects of versions that are not served any more do not keep their definition, whatever its conditions."""
    install(ask)
    ask("POST", THINGS, {"apiVersion": "x.io/v1", "kind": "Thing", "metadata": {"name": "a"}})
    made = definition("v1")["spec"]["versions"][0]
    path = f"{DEFINITIONS}/things.x.io"
    assert ask("PATCH", path, {"spec": {"versions": [{**made, "served": False}]}}, headers=MERGE)[0] == 200
    if not has_conditions:
        ask("PATCH", f"{path}/status", {"status": {"conditions": []}}, headers=MERGE)

    assert ask("DELETE", path)[0] == 200
    assert ask("GET", path)[0] == 404


async def test_the_history_of_a_resource_begins_with_its_definition(ask: Asker) -> None:
    """A watch at a version before a definition was established is expired; later changes of it keep the history."""
    old = ask.make("before")["metadata"]["resourceVersion"]
    install(ask)
    made = ask("POST", THINGS, {"apiVersion": "x.io/v1", "kind": "Thing", "metadata": {"name": "a"}})[1]
    ask("PATCH", f"{DEFINITIONS}/things.x.io", {"spec": {"names": {"shortNames": ["th"]}}}, headers=MERGE)
    async with ask.watching(THINGS, resourceVersion=old) as watching:
        event = await watching.next()
    assert event is not None
    assert (event["type"], event["object"]["code"]) == ("ERROR", 410)
    since = str(int(made["metadata"]["resourceVersion"]) - 1)
    async with ask.watching(THINGS, resourceVersion=since) as watching:
        assert await watching.take(1) == [("ADDED", "a")]
    code, listed = ask("GET", THINGS, resourceVersion=old, resourceVersionMatch="Exact")
    assert (code, listed["items"]) == (200, [])  # lists are not read from the watch cache
