"""Validation of apply configurations."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._errors import StatusError
from pyctrl.apiserver._fieldmanager.typed import check_configuration, typed_problems
from pyctrl.apiserver._schema.schema import compile_structural
from tests.unit.apiserver._objects import deployment

START = "failed to create typed patch object (/d; apps/v1, Kind=Deployment): "


def _check(patch: dict[str, Any]) -> None:
    found = ResourceRegistry().find("apps", "v1", "deployments")
    assert found is not None
    check_configuration(patch, found)


def test_a_configuration_of_the_schema_is_accepted() -> None:
    """A valid object has no problems."""
    _check(deployment(replicas=3))


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({"nosuch": 1}, ".spec.nosuch: field not declared in schema"),
        (
            {"template": 1, "paused": "x"},
            "errors:\n  .spec.paused: expected boolean, got &{x}\n  .spec.template: expected map, got &{1}",
        ),
        ({"replicas": "x"}, ".spec.replicas: expected numeric (int or float), got string"),
        ({"paused": "x"}, ".spec.paused: expected boolean, got &{x}"),
        ({"template": {"spec": {"containers": {}}}}, ".spec.template.spec.containers: expected list, got &{map[]}"),
        (
            {"template": {"spec": {"containers": [{"name": "c"}, {"name": "c"}]}}},
            '.spec.template.spec.containers: duplicate entries for key [name="c"]',
        ),
    ],
)
def test_problems_have_the_messages_of_structured_merge_diff(spec: dict[str, Any], problem: str) -> None:
    """Each problem is a 500 with the path of the field, as in kube-apiserver."""
    with pytest.raises(StatusError) as refused:
        _check({**deployment(), "spec": spec})
    assert (refused.value.code, str(refused.value)) == (500, START + problem)


def test_an_element_needs_a_key_that_has_no_default() -> None:
    """Secrets of a ServiceAccount need a name; containers do not for the patch, as their name defaults to ''."""
    found = ResourceRegistry().find("", "v1", "serviceaccounts")
    assert found is not None
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "d"}, "secrets": [{"kind": "Secret"}]}
    with pytest.raises(StatusError) as refused:
        check_configuration(account, found)
    assert str(refused.value) == (
        "failed to create typed patch object (/d; /v1, Kind=ServiceAccount): .secrets: element 0: associative list "
        'with keys has an element that omits all key fields ["name"] (and doesn\'t have default values for any key '
        "fields)"
    )
    _check(deployment(template={"spec": {"containers": [{"image": "i"}]}}))


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "object"}, {"any": {"key": 1}}),
        ({"type": "array", "items": {"type": "object"}}, [{"any": 1}]),
        (
            {
                "type": "object",
                "x-kubernetes-preserve-unknown-fields": True,
                "properties": {"inner": {"type": "object", "properties": {"known": {"type": "string"}}}},
            },
            {"inner": {"other": 1}},
        ),
    ],
)
def test_an_object_takes_any_key_where_no_field_is_declared(schema: dict[str, Any], value: Any) -> None:
    """Objects without properties, and all below a place that preserves unknown fields, are pruned and not refused."""
    assert typed_problems(compile_structural(schema), value) == ""


def test_an_object_with_properties_takes_no_other_key() -> None:
    """An undeclared field of an item is a problem with its path."""
    item = {"type": "object", "properties": {"known": {"type": "string"}}}
    node = compile_structural({"type": "array", "items": item})
    assert typed_problems(node, [{"other": 1}]) == "[0].other: field not declared in schema"
