"""JSON Schemas: what an editor accepts, underlines and shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import jsonschema_rs
import pytest
from pydantic import Field

from pyctrl.api import CustomResource, GroupVersionKind, Model, PreserveUnknownFields
from pyctrl.manifests import definition, json_schema, json_schema_index, json_schema_path

META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
COMPONENTS = {META: {"type": "object", "properties": {"name": {"type": "string"}}}}
GAUGE = GroupVersionKind("example.com", "v1", "Gauge")


def schema_of(spec: Mapping[str, Any], **options: Any) -> dict[str, Any]:
    """Return the JSON Schema of a kind with an OpenAPI schema as its spec."""
    return json_schema(GAUGE, {"type": "object", "properties": {"spec": spec}, **options}, COMPONENTS)


def errors(schema: Mapping[str, Any], spec: Any) -> list[str]:
    """Return the paths and messages of what an editor underlines in an object."""
    obj = {"apiVersion": "example.com/v1", "kind": "Gauge", "metadata": {"name": "a"}, "spec": spec}
    found = jsonschema_rs.Draft7Validator(dict(schema)).iter_errors(obj)
    return [f"{'.'.join(map(str, each.instance_path))}: {each.message}" for each in found]


class Listener(Model):
    """Where to listen."""

    port: int = Field(ge=1, description="The port.")


class GaugeSpec(Model):
    """What it shows."""

    size: int
    tier: Literal["free", "paid"] = "free"
    listeners: list[Listener] = []
    target: int | str = 80
    extra: Annotated[object, PreserveUnknownFields()] = None


class Gauge(CustomResource[GaugeSpec], group="example.com", version="v1"):
    """A gauge."""


@pytest.fixture(scope="module")
def gauge() -> dict[str, Any]:
    """The JSON Schema of the class."""
    openapi = definition(Gauge)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return json_schema(GAUGE, openapi, COMPONENTS)


@pytest.mark.parametrize(
    ("spec", "underlined"),
    [
        ({"size": 1}, []),
        ({"size": 1, "tier": "paid", "listeners": [{"port": 1}], "target": "http", "extra": {"a": [1]}}, []),
        ({"size": 1, "sise": 2}, ["spec: Additional properties are not allowed ('sise' was unexpected)"]),
        ({"size": "big"}, ['spec.size: "big" is not of type "integer"']),
        ({}, ['spec: "size" is a required property']),
        ({"size": 1, "tier": "gold"}, ['spec.tier: "gold" is not one of "free" or "paid"']),
        ({"size": 1, "listeners": [{"port": 0}]}, ["spec.listeners.0.port: 0 is less than the minimum of 1"]),
        ({"size": 1, "listeners": [{}]}, ['spec.listeners.0: "port" is a required property']),
        ({"size": 1, "target": 1.5}, ['spec.target: 1.5 is not of types "integer", "string"']),
    ],
)
def test_an_editor_underlines_what_the_server_rejects(
    gauge: dict[str, Any], spec: dict[str, Any], underlined: list[str]
) -> None:
    """A typo, a wrong type, a missing field and a value out of bounds are errors at their place."""
    assert errors(gauge, spec) == underlined


def test_an_editor_shows_docstrings_and_defaults(gauge: dict[str, Any]) -> None:
    """Descriptions of kinds and fields, defaults and choices are in the schema."""
    spec = gauge["properties"]["spec"]
    assert (gauge["description"], spec["description"]) == ("A gauge.", "What it shows.")
    assert spec["properties"]["listeners"]["items"]["properties"]["port"]["description"] == "The port."
    assert spec["properties"]["tier"] == {"type": "string", "enum": ["free", "paid"], "default": "free"}


def test_the_header_is_that_of_the_kind(gauge: dict[str, Any]) -> None:
    """apiVersion and kind have one value, which an editor completes; the fields of metadata are known."""
    assert jsonschema_rs.Draft7Validator(gauge).is_valid(
        {"apiVersion": "example.com/v1", "kind": "Gauge", "metadata": {"name": "a"}, "spec": {"size": 1}}
    )
    wrong: dict[str, Any]
    for wrong in ({"apiVersion": "example.com/v2"}, {"kind": "Gage"}, {"metadata": {"nam": "a"}}, {"sepc": {}}):
        obj = {"apiVersion": "example.com/v1", "kind": "Gauge", "metadata": {}, "spec": {"size": 1}, **wrong}
        assert not jsonschema_rs.Draft7Validator(gauge).is_valid(obj)
    assert gauge["required"] == ["apiVersion", "kind", "metadata", "spec"]


@pytest.mark.parametrize(
    ("openapi", "valid", "invalid"),
    [
        ({"type": "string", "nullable": True, "enum": ["a"]}, ["a", None], ["b"]),
        ({"type": "integer", "minimum": 0, "exclusiveMinimum": True}, [1], [0]),
        ({"type": "integer", "maximum": 9, "exclusiveMaximum": False}, [9], [10]),
        (
            {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
            [1, "50%"],
            [True, None],
        ),
        ({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}, [["a", "b"]], [["a", "a"]]),
        ({"type": "object"}, [{}], [{"a": 1}]),
        ({"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {}}, [{"a": 1}], [1]),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, [{"a": 1}], [{"a": "x"}]),
        (
            {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True},
            [{"apiVersion": "v1", "kind": "Pod", "spec": {}}],
            [{"kind": "Pod"}, {"apiVersion": "v1", "kind": "Pod", "metadata": {"nam": 1}}],
        ),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
                "oneOf": [{"required": ["a"], "properties": {"a": {"minimum": 1}}}, {"required": ["b"]}],
            },
            [{"a": 1}, {"b": 0}],
            [{}, {"a": 1, "b": 1}, {"a": 1, "c": 1}],
        ),
        (
            {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer", "default": 0}}},
            [{}, {"a": 1}],
            [{"a": "x"}],
        ),
        ({"type": "string", "pattern": "(?i)^a"}, ["a", "b"], [1]),
        ({"type": "integer", "not": {"enum": [3]}}, [2], [3]),
    ],
)
def test_what_openapi_and_kubernetes_spell_differently(openapi: Any, valid: list[Any], invalid: list[Any]) -> None:
    """Null, exclusive bounds, lists of unique items, kept fields and defaults mean what they mean to the server."""
    schema = schema_of(openapi)
    for value in valid:
        assert errors(schema, value) == []
    for value in invalid:
        assert errors(schema, value) != []


def test_restrictions_on_the_name_are_kept() -> None:
    """A CRD may restrict metadata.name; the other fields of metadata stay known."""
    limits = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 2}}}
    schema = json_schema(GAUGE, {"type": "object", "properties": {"metadata": limits}}, COMPONENTS)
    validator = jsonschema_rs.Draft7Validator(schema)
    obj = {"apiVersion": "example.com/v1", "kind": "Gauge"}
    assert validator.is_valid({**obj, "metadata": {"name": "ab"}})
    assert not validator.is_valid({**obj, "metadata": {"name": "abc"}})
    assert not validator.is_valid({**obj, "metadata": {"nam": "a"}})


def test_published_schemas_refer_to_others() -> None:
    """Referred schemas are included, also those that refer to themselves; a zero default does not satisfy a field."""
    tree = {"type": "object", "properties": {"left": {"allOf": [{"$ref": "#/components/schemas/Tree"}]}}}
    port = {"type": "object", "required": ["port"], "properties": {"port": {"type": "integer", "default": 0}}}
    root = {"$ref": "#/components/schemas/Tree"}
    openapi = {"type": "object", "properties": {"spec": port, "root": root}}
    schema = json_schema(GAUGE, openapi, {**COMPONENTS, "Tree": tree}, is_builtin=True)
    assert errors(schema, {}) == ['spec: "port" is a required property']
    obj = {"apiVersion": "example.com/v1", "kind": "Gauge", "metadata": {}, "root": {"left": {"left": {}}}}
    assert jsonschema_rs.Draft7Validator(schema).is_valid(obj)
    assert not jsonschema_rs.Draft7Validator(schema).is_valid({**obj, "root": {"left": {"lft": {}}}})


def test_files_are_named_as_in_the_catalog() -> None:
    """The name has the group, kind and version in lower case; kinds without a group have no directory."""
    assert json_schema_path(GAUGE) == "example.com/gauge_v1.json"
    assert json_schema_path(GroupVersionKind("", "v1", "ConfigMap")) == "configmap_v1.json"


def test_the_index_applies_the_schema_of_each_kind(gauge: dict[str, Any]) -> None:
    """One schema covers files with several kinds, accepts other kinds, and completes the known ones."""
    index = json_schema_index([GAUGE])
    registry = jsonschema_rs.Registry([("https://schemas/example.com/gauge_v1.json", gauge)])
    index = {"$id": "https://schemas/all.json", **index}
    validator = jsonschema_rs.Draft7Validator(index, registry=registry)
    header = {"apiVersion": "example.com/v1", "kind": "Gauge", "metadata": {"name": "a"}}
    assert validator.is_valid({**header, "spec": {"size": 1}})
    assert not validator.is_valid({**header, "spec": {"sise": 1}})
    assert validator.is_valid({"apiVersion": "v1", "kind": "ConfigMap"})
    assert index["properties"]["kind"]["anyOf"][0] == {"enum": ["Gauge"]}
