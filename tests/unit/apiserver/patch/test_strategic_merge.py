"""Strategic merge patches on built-in kinds."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._errors import StatusError
from pyctrl.apiserver._patch.strategic_merge import strategic_merge
from pyctrl.apiserver._schema.schema import SchemaNode

LIVE: dict[str, Any] = {
    "metadata": {"name": "p", "finalizers": ["a.io/x"]},
    "spec": {
        "containers": [
            {"name": "a", "image": "1", "env": [{"name": "X", "value": "1"}], "args": ["x"]},
            {"name": "b", "image": "2"},
        ]
    },
}


@pytest.fixture(scope="module")
def schema() -> SchemaNode:
    """The schema of pods."""
    found = ResourceRegistry().find("", "v1", "pods")
    assert found is not None
    return found.schema


def _containers(schema: SchemaNode, *containers: dict[str, Any]) -> list[dict[str, Any]]:
    merged = strategic_merge(LIVE, {"spec": {"containers": list(containers)}}, schema)
    found: list[dict[str, Any]] = merged["spec"]["containers"]
    return found


def test_list_items_merge_by_the_key_of_the_schema(schema: SchemaNode) -> None:
    """A container of the same name is merged field by field, and its env by name with new items first."""
    merged = _containers(schema, {"name": "a", "image": "9", "env": [{"name": "Z", "value": "3"}]})
    assert [each["name"] for each in merged] == ["a", "b"]
    assert merged[0]["image"] == "9"
    assert [each["name"] for each in merged[0]["env"]] == ["Z", "X"]


def test_plain_lists_are_replaced(schema: SchemaNode) -> None:
    """A list without a merge strategy is replaced."""
    assert _containers(schema, {"name": "a", "args": ["y"]})[0]["args"] == ["y"]


def test_lists_of_values_that_merge_keep_each_once(schema: SchemaNode) -> None:
    """Finalizers of the patch are added to the live ones."""
    merged = strategic_merge(LIVE, {"metadata": {"finalizers": ["a.io/x", "a.io/y"]}}, schema)
    assert merged["metadata"]["finalizers"] == ["a.io/x", "a.io/y"]
    directive = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a.io/x"]}}
    assert strategic_merge(LIVE, directive, schema)["metadata"]["finalizers"] == []


def test_directives_delete_and_replace(schema: SchemaNode) -> None:
    """`$patch: delete` removes an item, `$patch: replace` replaces a list or map by the patch."""
    assert [each["name"] for each in _containers(schema, {"name": "b", "$patch": "delete"})] == ["a"]
    assert _containers(schema, {"$patch": "replace"}, {"name": "c"}) == [{"name": "c"}]
    merged = strategic_merge(LIVE, {"metadata": {"$patch": "replace", "name": "p"}}, schema)
    assert merged["metadata"] == {"name": "p"}


def test_null_removes_a_field(schema: SchemaNode) -> None:
    """A null removes the field, as in a merge patch."""
    assert "finalizers" not in strategic_merge(LIVE, {"metadata": {"finalizers": None}}, schema)["metadata"]


@pytest.fixture(scope="module")
def deployment() -> SchemaNode:
    """The schema of deployments."""
    found = ResourceRegistry().find("apps", "v1", "deployments")
    assert found is not None
    return found.schema


ROLLING: dict[str, Any] = {"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}}


def test_retain_keys_removes_the_keys_that_it_does_not_list(deployment: SchemaNode) -> None:
    """A patch that changes the type of a strategy removes the settings of the type before."""
    patch = {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate", "rollingUpdate": None}}}
    assert strategic_merge(ROLLING, patch, deployment)["spec"]["strategy"] == {"type": "Recreate"}


def test_retain_keys_applies_to_items_of_a_list(schema: SchemaNode) -> None:
    """A volume of the same name keeps only the listed keys, so that its source can change; others are kept."""
    live = {"spec": {"volumes": [{"name": "v", "emptyDir": {}}, {"name": "w", "emptyDir": {}}]}}
    volume = {"name": "v", "hostPath": {"path": "/x"}}
    merged = strategic_merge(live, {"spec": {"volumes": [{"$retainKeys": [*volume], **volume}]}}, schema)
    assert merged["spec"]["volumes"] == [volume, {"name": "w", "emptyDir": {}}]


@pytest.mark.parametrize(
    "strategy",
    [
        {"$retainKeys": ["type"], "type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2}},
        {"$retainKeys": "type", "type": "Recreate"},
        {"$retainKeys": None, "type": "Recreate"},
    ],
    ids=["a key is not listed", "text", "null"],
)
def test_retain_keys_lists_every_key_that_the_patch_sets(deployment: SchemaNode, strategy: dict[str, Any]) -> None:
    """A patch that sets a key beside the list, or has no list there, is refused with 400 as by kube-apiserver."""
    with pytest.raises(StatusError) as refused:
        strategic_merge(ROLLING, {"spec": {"strategy": strategy}}, deployment)
    assert (refused.value.code, str(refused.value)) == (400, "invalid patch format of retainKeys")


def test_a_map_whose_strategy_is_replace_is_taken_from_the_patch() -> None:
    """The selector of a disruption budget is replaced; other maps are merged."""
    found = ResourceRegistry().find("policy", "v1", "poddisruptionbudgets")
    assert found is not None
    live = {"spec": {"minAvailable": 1, "selector": {"matchLabels": {"a": "1"}}}}
    patch = {"spec": {"selector": {"matchLabels": {"b": "2"}}}}
    merged = strategic_merge(live, patch, found.schema)
    assert merged["spec"] == {"minAvailable": 1, **patch["spec"]}


def test_set_element_order_decides_the_order(schema: SchemaNode) -> None:
    """The items get the order of the client."""
    patch = {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}]}
    merged = strategic_merge(LIVE, {"spec": patch}, schema)
    assert [each["name"] for each in merged["spec"]["containers"]] == ["b", "a"]


def test_an_order_of_no_maps_is_refused(schema: SchemaNode) -> None:
    """The order of a list with a key has maps with that key, an empty one orders nothing, and it must fit the patch."""
    stated = {"containers": [{"name": "a"}]}
    refused: list[tuple[list[Any], dict[str, Any], str]] = [
        (["a"], {}, "value for key 0 is not a map"),
        (["a"], stated, "expected a map[string]interface {}, but received a string"),
        ([{}], stated, "map: map[] does not contain declared merge key: name"),
        ([{"name": "b"}], stated, "The order in patch list:"),
    ]
    for order, more, message in refused:
        patch = {"$setElementOrder/containers": order, **more}
        with pytest.raises(StatusError, match=re.escape(message)):
            strategic_merge(LIVE, {"spec": patch}, schema)

    patch = {"$setElementOrder/containers": list[Any](), "containers": [{"name": "a", "image": "9"}]}
    merged = strategic_merge(LIVE, {"spec": patch}, schema)
    assert next(each for each in merged["spec"]["containers"] if each["name"] == "a")["image"] == "9"


def test_neither_argument_is_changed(schema: SchemaNode) -> None:
    """The live object and the patch are not changed."""
    before = repr(LIVE)
    _containers(schema, {"name": "a", "image": "9"})
    assert repr(LIVE) == before


def test_an_unknown_directive_is_refused(schema: SchemaNode) -> None:
    """An unknown directive is 500, as in kube-apiserver, and does not become a field."""
    with pytest.raises(StatusError) as refused:
        strategic_merge(LIVE, {"spec": {"$patch": "remove"}}, schema)
    assert (refused.value.code, str(refused.value)) == (500, "unknown patch type: remove in map: map[$patch:remove]")


def test_a_null_in_a_new_map_is_not_stored(schema: SchemaNode) -> None:
    """A patch that adds a map with nulls, or an item with nulls, adds what is not null."""
    merged = strategic_merge(LIVE, {"metadata": {"labels": {"x": None, "y": "1"}}}, schema)
    assert merged["metadata"]["labels"] == {"y": "1"}
    assert _containers(schema, {"name": "c", "image": "1", "args": None})[0] == {"name": "c", "image": "1"}
