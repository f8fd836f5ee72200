"""Operations of the OpenAPI documents, which kubectl reads."""

from __future__ import annotations

from tests.unit.apiserver._kit import Asker


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
