"""Operations of the OpenAPI documents, which kubectl reads."""

from __future__ import annotations

from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._discovery.openapi import openapi_response
from tests.unit.apiserver._kit import Asker
from tests.unit.apiserver._objects import GROUP, install, spec_schema


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

    [body] = [each for each in post["parameters"] if each.get("in") == "body"]
    assert body["schema"] == {"$ref": "#/definitions/io.k8s.api.core.v1.ConfigMap"}
    [dry_run] = [each for each in post["parameters"] if each.get("name") == "dryRun"]
    assert (dry_run["in"], dry_run["type"]) == ("query", "string")


def test_operations_of_custom_resources_are_in_both_versions() -> None:
    """The paths of a definition are in the document of its group, and in v2 beside those of built-in kinds."""
    registry = ResourceRegistry()
    install(registry, spec_schema({"size": {"type": "integer"}}))
    path = f"/apis/{GROUP}/v1/namespaces/{{namespace}}/things"
    for document in ("/openapi/v2", f"/openapi/v3/apis/{GROUP}/v1"):
        found = openapi_response(registry, document)
        assert found is not None
        assert found["paths"][path]["post"]["x-kubernetes-action"] == "post"


def test_operations_of_custom_resources_share_parameters_in_version_2() -> None:
    """In v2 the operations of a definition refer to the parameters of the document, and consume JSON and YAML."""
    registry = ResourceRegistry()
    install(registry, spec_schema({"size": {"type": "integer"}}))
    found = openapi_response(registry, "/openapi/v2")
    assert found is not None
    item = found["paths"][f"/apis/{GROUP}/v1/namespaces/{{namespace}}/things"]
    names = [each["$ref"].removeprefix("#/parameters/").partition("-")[0] for each in item["parameters"]]
    assert names == ["namespace", "pretty"]
    assert (item["post"]["consumes"], item["post"]["schemes"]) == (["application/json", "application/yaml"], ["https"])
    assert "body" in [each.get("name") for each in item["post"]["parameters"]]
    one = found["paths"][f"/apis/{GROUP}/v1/namespaces/{{namespace}}/things/{{name}}"]
    assert one["patch"]["consumes"][-1] == "application/apply-patch+yaml"
