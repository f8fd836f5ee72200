"""OpenAPI documents, v2 and v3."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from pyctrl.apiserver import ApiServer, ResourceRegistry
from pyctrl.apiserver._discovery.openapi import definitions_v2, openapi_response
from tests.unit.apiserver._kit import Asker
from tests.unit.apiserver._objects import GROUP, install, spec_schema

OPEN = "x-kubernetes-preserve-unknown-fields"
TEXT = {"type": "string"}
KIND = {"version": "v1", "kind": "Thing"}


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
        assert not wanted - document["components"].get("schemas", {}).keys(), path
    _, whole = ask("GET", "/openapi/v2")
    known = {f"#/{part}/{name}" for part in ("definitions", "parameters") for name in whole[part]}
    assert not set(references(whole)) - known


def test_every_group_version_has_an_openapi_document() -> None:
    """The index of OpenAPI v3 has a document for each group version, with the schemas of its kinds."""
    registry = ResourceRegistry()
    install(registry, spec_schema({"size": {"type": "integer"}}))
    index = openapi_response(registry, "/openapi/v3")
    assert index is not None
    for path, place in index["paths"].items():
        document = openapi_response(registry, place["serverRelativeURL"].partition("?")[0])
        assert document is not None, path
        assert document["components"], path
    custom = openapi_response(registry, f"/openapi/v3/apis/{GROUP}/v1")
    assert custom is not None
    schema = custom["components"]["schemas"]["com.example.test.v1.Thing"]
    assert schema["properties"]["spec"]["properties"] == {"size": {"type": "integer"}}
    assert schema["x-kubernetes-group-version-kind"] == [{"group": GROUP, "version": "v1", "kind": "Thing"}]


def test_the_v2_document_has_no_references_of_v3() -> None:
    """All references in the OpenAPI v2 document are to definitions of the document."""
    document = openapi_response(ResourceRegistry(), "/openapi/v2")
    assert "#/components" not in str(document)
    assert openapi_response(ResourceRegistry(), "/openapi/v4") is None


def test_types_and_fields_have_kubernetes_descriptions() -> None:
    """Documents of built-in kinds, v2 and v3, have Kubernetes' descriptions, also of fields that are references."""
    v3, v2 = (openapi_response(ResourceRegistry(), f"/openapi/{path}") for path in ("v3/apis/apps/v1", "v2"))
    assert v3 is not None
    assert v2 is not None
    for schemas in (v3["components"]["schemas"], v2["definitions"]):
        spec = schemas["io.k8s.api.apps.v1.DeploymentSpec"]
        assert spec["description"].startswith("DeploymentSpec is the specification of the desired behavior")
        assert spec["properties"]["strategy"]["description"].startswith("The deployment strategy to use")
        assert spec["properties"]["replicas"]["description"].startswith("Number of desired pods.")
    strategy = v2["definitions"]["io.k8s.api.apps.v1.DeploymentSpec"]["properties"]["strategy"]
    assert {"$ref", "description", "x-kubernetes-patch-strategy"} == strategy.keys()


def test_descriptions_of_custom_kinds() -> None:
    """The metadata of a custom kind is described as that of any kind, in place of the definition's own texts."""
    registry = ResourceRegistry()
    install(registry, spec_schema({"size": {"type": "integer", "description": "How big."}}))
    document = openapi_response(registry, f"/openapi/v3/apis/{GROUP}/v1")
    assert document is not None
    kind = document["components"]["schemas"]["com.example.test.v1.Thing"]["properties"]
    assert kind["spec"]["properties"]["size"]["description"] == "How big."
    assert kind["apiVersion"]["description"].startswith("APIVersion defines the versioned schema")
    assert kind["metadata"]["description"].startswith("Standard object's metadata.")
    listed = document["components"]["schemas"]["com.example.test.v1.ThingList"]
    assert listed["description"] == "ThingList is a list of Thing"
    assert listed["properties"]["items"]["description"].startswith("List of things. More info: ")


def test_schemas_of_the_server_keep_no_descriptions() -> None:
    """A request for a document adds no description to the schemas that the server validates by and keeps in memory."""
    registry = ResourceRegistry()
    openapi_response(registry, "/openapi/v3/api/v1")
    assert "description" not in registry.components.document("core_v1")["io.k8s.api.core.v1.Pod"]


def test_items_have_the_zero_value_of_their_type(ask: Asker) -> None:
    """Items that are structs, texts or numbers have a default, as in kube-apiserver; quantities and times have none."""
    schemas = ask("GET", "/openapi/v3/api/v1")[1]["components"]["schemas"]
    spec = schemas["io.k8s.api.core.v1.PodSpec"]["properties"]
    assert spec["containers"]["items"] == {
        "allOf": [{"$ref": "#/components/schemas/io.k8s.api.core.v1.Container"}],
        "default": {},
    }
    assert schemas["io.k8s.api.core.v1.Container"]["properties"]["args"]["items"] == {"type": "string", "default": ""}
    limits = schemas["io.k8s.api.core.v1.ResourceRequirements"]["properties"]["limits"]["additionalProperties"]
    assert limits.keys() == {"$ref"}


def test_fields_may_have_the_names_of_keywords(ask: Asker) -> None:
    """A field named `default` is a field in v2, too."""
    definitions = ask("GET", "/openapi/v2")[1]["definitions"]
    assert "default" in definitions["io.k8s.api.core.v1.LimitRangeItem"]["properties"]
    assert "default" not in definitions["io.k8s.api.core.v1.ServicePort"]["properties"]["protocol"]


def test_the_hash_of_a_document_follows_from_its_contents() -> None:
    """A client may keep a document as long as its hash is the same: a change of a definition changes its own only."""

    def hashes(registry: ResourceRegistry) -> dict[str, str]:
        index = openapi_response(registry, "/openapi/v3")
        assert index is not None
        return {path: place["serverRelativeURL"].partition("?hash=")[2] for path, place in index["paths"].items()}

    registry, path = ResourceRegistry(), f"apis/{GROUP}/v1"
    built_in = hashes(registry)
    install(registry, spec_schema({"size": {"type": "integer"}}))
    first = hashes(registry)
    install(registry, spec_schema({"size": {"type": "string"}}))
    second = hashes(registry)
    assert first[path] != second[path]
    assert built_in == {name: each for name, each in second.items() if name != path}
    assert len(built_in["apis/apps/v1"]) == 128


GADGET = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "port": {"x-kubernetes-int-or-string": True},
                "color": {"type": "string"},
                "object": {
                    "type": "object",
                    "x-kubernetes-embedded-resource": True,
                    "x-kubernetes-preserve-unknown-fields": True,
                },
            },
        },
    },
}


def test_the_document_of_custom_kinds_is_that_of_kube_apiserver() -> None:
    """It has the meaning of extensions, what selectors may use, its title, and only components that it uses."""
    server = ApiServer()
    versions = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": GADGET},
        "selectableFields": [{"jsonPath": ".spec.color"}],
        "subresources": {"scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}},
    }
    names = {"plural": "gadgets", "singular": "gadget", "kind": "Gadget"}
    spec = {"group": "g.example.com", "scope": "Cluster", "names": names, "versions": [versions]}
    definition = {"metadata": {"name": "gadgets.g.example.com"}, "spec": spec}
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    assert server.handle_nowait("POST", path, body=json.dumps(definition).encode()).status == 201
    document = openapi_response(server.registry, "/openapi/v3/apis/g.example.com/v1")
    assert document is not None
    assert (document["info"]["title"], list(document["components"])) == ("Kubernetes CRD Swagger", ["schemas"])
    schemas = document["components"]["schemas"]
    assert "io.k8s.api.autoscaling.v1.Scale" in schemas
    assert "io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent" not in schemas
    gadget = schemas["com.example.g.v1.Gadget"]
    assert gadget["x-kubernetes-selectable-fields"] == [{"fieldPath": "spec.color"}]
    fields = gadget["properties"]["spec"]["properties"]
    assert fields["port"]["anyOf"] == [{"type": "integer"}, {"type": "string"}]
    assert (fields["object"]["required"], list(fields["object"]["properties"])) == (
        ["kind", "apiVersion"],
        ["apiVersion", "kind", "metadata"],
    )
    deletion = document["paths"]["/apis/g.example.com/v1/gadgets"]["delete"]
    assert (deletion["operationId"], deletion["tags"]) == ("deleteGExampleComV1CollectionGadget", ["gExampleCom_v1"])
    assert deletion["description"] == "delete collection of Gadget"
    embedded = definitions_v2(server.registry)["com.example.g.v1.Gadget"]["properties"]["spec"]["properties"]["object"]
    assert "properties" not in embedded
    assert "type" not in embedded


@pytest.mark.parametrize(
    ("declared", "published"),
    [
        ({"type": "string", "nullable": True}, {}),
        ({"type": "array", "nullable": True, "items": {"type": "string"}}, {}),
        ({"type": "object", OPEN: True, "properties": {"a": {"type": "string"}}}, {OPEN: True}),
        ({"type": "array", OPEN: True, "items": {"type": "string"}}, {OPEN: True}),
        (
            {"type": "object", "required": ["a", "b"], "properties": {"a": {**TEXT, "nullable": True}, "b": TEXT}},
            {"type": "object", "required": ["b"], "properties": {"a": {}, "b": TEXT}},
        ),
        (
            {"type": "object", "required": ["a"], "additionalProperties": {"type": "string", "nullable": True}},
            {"type": "object", "additionalProperties": {}},
        ),
        (
            {"type": "string", "minLength": 1, "default": "a", "oneOf": [{"pattern": "a"}]},
            {"type": "string", "minLength": 1},
        ),
    ],
)
def test_v2_allows_what_it_cannot_say(declared: Any, published: Any) -> None:
    """In v2, values that may be null and fields that may be unknown have no type: kubectl would refuse them."""
    registry = ResourceRegistry()
    install(registry, spec_schema({"field": declared}))
    spec = definitions_v2(registry)["com.example.test.v1.Thing"]["properties"]["spec"]
    assert spec["properties"]["field"] == published


def test_a_custom_kind_with_any_fields_is_only_an_object_in_v2() -> None:
    """The v2 schema of a kind whose root keeps unknown fields names no field."""
    registry = ResourceRegistry()
    install(registry, {"type": "object", OPEN: True, "description": "Any."})
    found = definitions_v2(registry)["com.example.test.v1.Thing"]
    assert found == {"type": "object", "x-kubernetes-group-version-kind": [{"group": GROUP, **KIND}]}
