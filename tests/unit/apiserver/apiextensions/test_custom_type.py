"""Custom resources: status and generation."""

from __future__ import annotations

import pytest

from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._errors import StatusError
from tests.unit.apiserver._kit import MERGE, Asker
from tests.unit.apiserver._objects import GROUP, create, definition, spec_schema, update

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
THINGS = f"/apis/{GROUP}/v1/namespaces/default/things"
KEYED = {"type": "object", "properties": {"k": {"type": "string"}}}


def test_status_and_generation_of_custom_resources() -> None:
    """A write to the main endpoint keeps the status, and a write to the status endpoint keeps the spec."""
    registry = ResourceRegistry()
    schema = {"type": "object", "properties": {"spec": KEYED, "status": KEYED}}
    registry.install(create(registry, definition(schema, subresources={"status": {}}))[0])
    obj = {
        "apiVersion": f"{GROUP}/v1",
        "kind": "Thing",
        "metadata": {"name": "a"},
        "spec": {"k": "1"},
        "status": {"k": "x"},
    }
    created, _ = create(registry, obj)
    assert "status" not in created
    assert created["metadata"]["generation"] == 1
    through_status = update(
        registry, {**created, "spec": {"k": "2"}, "status": {"k": "y"}}, created, subresource="status"
    )
    assert (through_status["spec"], through_status["status"]) == ({"k": "1"}, {"k": "y"})
    assert through_status["metadata"]["generation"] == 1
    changed = update(registry, {**through_status, "spec": {"k": "2"}, "status": {"k": "z"}}, through_status)
    assert (changed["spec"], changed["status"]) == ({"k": "2"}, {"k": "y"})
    assert changed["metadata"]["generation"] == 2


def test_a_status_that_an_update_drops_does_not_make_it_valid(ask: Asker) -> None:
    """A status that became required must be there when the status that a client has sent is dropped."""
    schema = spec_schema({"k": {"type": "string"}})
    schema["properties"]["status"] = {"type": "object"}
    ask("POST", DEFINITIONS, definition(schema, subresources={"status": {}}))
    thing = {"apiVersion": f"{GROUP}/v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": {"k": "1"}}
    _, live = ask("POST", THINGS, thing)
    versions = definition({**schema, "required": ["status"]}, subresources={"status": {}})["spec"]["versions"]
    ask("PATCH", f"{DEFINITIONS}/things.{GROUP}", {"spec": {"versions": versions}}, headers=MERGE)
    code, refused = ask("PUT", f"{THINGS}/a", {**live, "spec": {"k": "2"}, "status": {}})
    assert (code, refused["details"]["causes"][0]["field"]) == (422, "status")


def test_a_definition_restricts_names() -> None:
    """A name that the schema of the metadata does not allow is rejected when an object is created."""
    registry = ResourceRegistry()
    name = {"type": "string", "maxLength": 5, "pattern": "^[a-z]+$"}
    schema = {"type": "object", "properties": {"metadata": {"type": "object", "properties": {"name": name}}}}
    registry.install(create(registry, definition(schema))[0])
    obj = {"apiVersion": f"{GROUP}/v1", "kind": "Thing", "metadata": {"name": "short"}}
    created, _ = create(registry, obj)
    assert created["metadata"]["name"] == "short"
    fit = "metadata.name in body should match '\\^\\[a-z\\]\\+\\$'"
    for wrong, message in (("longer", "may not be more than 5 bytes"), ("a-b", fit)):
        with pytest.raises(StatusError, match=f"metadata.name: .*{message}"):
            create(registry, {**obj, "metadata": {"name": wrong}})


def test_old_duplicates_of_a_list_do_not_refuse_an_update() -> None:
    """An object that had duplicates before the list became a set can be changed; new duplicates are refused."""
    registry = ResourceRegistry()
    listed = {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}
    schema = spec_schema({"l": listed, "k": {"type": "string"}})
    registry.install(create(registry, definition(schema))[0])
    obj = {"apiVersion": f"{GROUP}/v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": {"l": ["x"]}}
    good, _ = create(registry, obj)
    doubled = {**good, "spec": {"l": ["x", "x"]}}

    assert update(registry, {**doubled, "spec": {"l": ["x", "x"], "k": "v"}}, doubled)["spec"]["k"] == "v"
    with pytest.raises(StatusError, match="Duplicate value"):
        update(registry, doubled, good)
