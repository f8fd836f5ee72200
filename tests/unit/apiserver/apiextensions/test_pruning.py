"""Pruning of unknown fields."""

from __future__ import annotations

import pytest

from pyctrl._go.text import shown_value
from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._errors import StatusError
from pyctrl.apiserver._serializer.strict import duplicate_fields
from tests.unit.apiserver._objects import create, deployment, install, spec_schema, thing

PRESERVING = {
    "type": "object",
    "x-kubernetes-preserve-unknown-fields": True,
    "properties": {"typed": {"type": "object", "properties": {"z": {"type": "integer"}}}},
}
EMBEDDED = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}


def test_unknown_fields_are_dropped_with_a_warning() -> None:
    """Unknown fields are not stored, and the client gets a warning for each."""
    registry = ResourceRegistry()
    install(registry, spec_schema({"list": {"type": "array", "items": {"type": "object"}}}))
    created, warnings = create(registry, thing({"junk": 1, "list": [{"j": 2}]}, top=1))
    assert created["spec"] == {"list": [{}]}
    assert "top" not in created
    assert warnings == ['unknown field "spec.junk"', 'unknown field "spec.list[0].j"', 'unknown field "top"']


def test_strict_field_validation_refuses_unknown_fields() -> None:
    """With fieldValidation=Strict, unknown fields are an error that lists them all."""
    registry = ResourceRegistry()
    install(registry, spec_schema({}))
    with pytest.raises(StatusError) as refused:
        create(registry, thing({"junk": 1}, metadata={"name": "a", "odd": 1}), field_validation="Strict")
    assert refused.value.code == 400
    assert str(refused.value) == (
        'Thing in version "v1" cannot be handled as a Thing: strict decoding error: unknown field "metadata.odd", '
        'unknown field "spec.junk"'
    )


def test_unknown_fields_of_metadata_are_told_in_order() -> None:
    """Unknown metadata fields are sorted also if all other fields are known."""
    registry = ResourceRegistry()
    install(registry, spec_schema({}))
    _, warnings = create(registry, thing({}, metadata={"name": "a", "odd": 1, "clusterName": "c"}))
    assert warnings == ['unknown field "metadata.clusterName"', 'unknown field "metadata.odd"']


def test_ignored_field_validation_drops_in_silence() -> None:
    """With fieldValidation=Ignore, unknown fields are dropped without a warning."""
    registry = ResourceRegistry()
    install(registry, spec_schema({}))
    created, warnings = create(registry, thing({"junk": 1}), field_validation="Ignore")
    assert (created["spec"], warnings) == ({}, [])


def test_preserved_places_keep_what_is_unknown_around_what_is_known() -> None:
    """x-kubernetes-preserve-unknown-fields keeps unknown fields; specified fields below are pruned."""
    registry = ResourceRegistry()
    install(registry, spec_schema({"keep": PRESERVING}))
    created, warnings = create(registry, thing({"keep": {"any": {"x": 1}, "typed": {"z": 1, "gone": 2}}}))
    assert created["spec"] == {"keep": {"any": {"x": 1}, "typed": {"z": 1}}}
    assert warnings == ['unknown field "spec.keep.typed.gone"']


def test_a_list_that_preserves_unknown_fields_preserves_those_of_its_items() -> None:
    """Items of items have them too; what is below a specified field of an item is pruned."""
    registry = ResourceRegistry()
    item = {"type": "object", "properties": {"typed": {"type": "object", "properties": {"z": {"type": "integer"}}}}}
    lists = {"type": "array", "items": {"type": "array", "items": item}, "x-kubernetes-preserve-unknown-fields": True}
    install(registry, spec_schema({"lists": lists}))
    created, warnings = create(registry, thing({"lists": [[{"any": {"x": 1}, "typed": {"z": 1, "gone": 2}}]]}))
    assert created["spec"] == {"lists": [[{"any": {"x": 1}, "typed": {"z": 1}}]]}
    assert warnings == ['unknown field "spec.lists[0][0].typed.gone"']


def test_an_embedded_objects_metadata_is_pruned_as_metadata() -> None:
    """An embedded object keeps its fields; its metadata is pruned as ObjectMeta."""
    registry = ResourceRegistry()
    install(registry, spec_schema({"template": EMBEDDED}))
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "junk": 1}, "spec": {"z": 1}}
    created, warnings = create(registry, thing({"template": pod}))
    assert created["spec"]["template"] == {**pod, "metadata": {"name": "x"}}
    assert warnings == ['unknown field "spec.template.metadata.junk"']


def test_an_embedded_object_says_what_it_is() -> None:
    """An embedded object without its apiVersion is refused."""
    registry = ResourceRegistry()
    install(registry, spec_schema({"template": EMBEDDED}))
    with pytest.raises(StatusError, match=r"spec\.template\.apiVersion: Required value"):
        create(registry, thing({"template": {"kind": "Pod"}}))


@pytest.mark.parametrize(("field", "value"), [("apiVersion", 1), ("kind", None)])
def test_an_embedded_object_whose_kind_is_no_text_is_not_read(field: str, value: object) -> None:
    """An apiVersion or kind of another type is refused before the validation, as in kube-apiserver."""
    registry = ResourceRegistry()
    install(registry, spec_schema({"template": EMBEDDED}))
    why = rf"as a Thing: spec\.template\.{field}: Invalid value: {shown_value(value)}: must be a string"
    with pytest.raises(StatusError, match=why):
        create(registry, thing({"template": {"apiVersion": "v1", "kind": "Pod", field: value}}))


def test_built_in_kinds_warn_of_unknown_fields_too() -> None:
    """A misspelt field of a Deployment is dropped and warned about with its whole path."""
    obj = deployment()
    obj["spec"]["template"]["spec"]["containers"][0]["imagee"] = "x"
    _, warnings = create(ResourceRegistry(), obj)
    assert warnings == ['unknown field "spec.template.spec.containers[0].imagee"']


def test_repeated_keys_are_found_with_their_path() -> None:
    """Duplicate keys of a JSON text are reported with their paths."""
    assert duplicate_fields(b'{"spec":{"a":1,"l":[{"b":1,"b":2}],"a":2}}') == ["spec.l[0].b", "spec.a"]
    assert duplicate_fields(b'{"spec":{"a":1,"l":[{"a":1},{"a":2}]}}') == []
