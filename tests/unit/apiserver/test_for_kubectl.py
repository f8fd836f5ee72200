"""Behaviour that kubectl relies on: OpenAPI documents, errors of kubectl edit, and tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.unit.apiserver._kit import CONFIGMAPS, MERGE, Asker

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
STRATEGIC = {"Content-Type": "application/strategic-merge-patch+json"}
TABLE = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}


def deployment() -> dict[str, Any]:
    labels = {"app": "a"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    return {"metadata": {"name": "a"}, "spec": {"selector": {"matchLabels": labels}, "template": template}}


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, each in value.items():
            if key == "$ref" and isinstance(each, str):
                yield each
            else:
                yield from references(each)
    elif isinstance(value, list):
        for each in value:
            yield from references(each)


def test_every_reference_leads_somewhere(ask: Asker) -> None:
    """Every `$ref` of an OpenAPI document, v2 and v3, is in the same document."""
    _, index = ask("GET", "/openapi/v3")
    for path in index["paths"]:
        _, document = ask("GET", f"/openapi/v3/{path}")
        wanted = {each.removeprefix("#/components/schemas/") for each in references(document)}
        assert not wanted - document["components"]["schemas"].keys(), path
    _, whole = ask("GET", "/openapi/v2")
    assert not {each.removeprefix("#/definitions/") for each in references(whole)} - whole["definitions"].keys()


def test_operations_tell_what_may_be_asked(ask: Asker) -> None:
    """A patch operation has its kind, media types and the parameter fieldValidation, which kubectl apply reads."""
    _, document = ask("GET", "/openapi/v3/apis/apps/v1")

    patch = document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"]

    assert patch["x-kubernetes-group-version-kind"] == {"group": "apps", "version": "v1", "kind": "Deployment"}
    assert [each["name"] for each in patch["parameters"]] == ["dryRun", "fieldManager", "fieldValidation", "force"]
    assert "application/strategic-merge-patch+json" in patch["requestBody"]["content"]
    assert patch["operationId"] == "patchAppsV1NamespacedDeployment"


def test_operations_are_told_apart(ask: Asker) -> None:
    """No two operations of a document have the same operationId."""
    _, document = ask("GET", "/openapi/v3/api/v1")

    ids = [
        operation["operationId"]
        for item in document["paths"].values()
        for method, operation in item.items()
        if method != "parameters"
    ]

    assert len(set(ids)) == len(ids) > 100


def test_version_2_has_bodies_among_its_parameters(ask: Asker) -> None:
    """In v2 a body is a parameter, and parameters have their type without a schema."""
    _, document = ask("GET", "/openapi/v2")

    post = document["paths"]["/api/v1/namespaces/{namespace}/configmaps"]["post"]

    body = post["parameters"][-1]
    assert (body["in"], body["schema"]) == ("body", {"$ref": "#/definitions/io.k8s.api.core.v1.ConfigMap"})
    assert {"name": "dryRun", "in": "query", "type": "string", "uniqueItems": True} in post["parameters"]


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


def test_deprecated_kinds_say_so(ask: Asker) -> None:
    """A list of Endpoints has the deprecation warning."""
    answer = ask.answer("GET", "/api/v1/endpoints")

    told = '299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"'
    assert ("Warning", told) in answer.headers


def test_a_scale_is_a_row(ask: Asker) -> None:
    """`kubectl get --subresource=scale` gets a table of desired and available replicas."""
    ask("POST", DEPLOYMENTS, deployment())

    _, found = ask("GET", f"{DEPLOYMENTS}/a/scale", headers=TABLE)

    assert [column["name"] for column in found["columnDefinitions"]] == ["Name", "Desired", "Available", "Age"]
    assert found["rows"][0]["cells"][:3] == ["a", 1, 0]
