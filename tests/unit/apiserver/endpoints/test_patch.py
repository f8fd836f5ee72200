"""patch: resource versions as preconditions."""

from __future__ import annotations

import asyncio

import pytest

from tests.unit.apiserver._kit import CONFIGMAPS, MERGE, Asker
from tests.unit.apiserver._objects import GROUP, definition, spec_schema, thing


def test_a_patch_may_carry_the_version_it_is_for(ask: Asker) -> None:
    """A resourceVersion in a patch is a precondition (optimistic locking)."""
    old = ask.make("a")["metadata"]["resourceVersion"]
    patch = {"metadata": {"resourceVersion": old}, "data": {"k": "1"}}
    assert ask("PATCH", f"{CONFIGMAPS}/a", patch, headers=MERGE)[0] == 200
    assert ask("PATCH", f"{CONFIGMAPS}/a", patch, headers=MERGE)[0] == 409


APPLY = {"Content-Type": "application/apply-patch+yaml"}


async def test_an_apply_that_changes_nothing_keeps_the_version(ask: Asker) -> None:
    """A controller that applies the same configuration again and again causes neither versions nor events."""
    applied = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v"}}
    code, first = ask("PATCH", f"{CONFIGMAPS}/a", applied, headers=APPLY, fieldManager="m")
    assert code == 201
    await asyncio.sleep(2)
    assert ask("PATCH", f"{CONFIGMAPS}/a", applied, headers=APPLY, fieldManager="m") == (200, first)


def test_an_apply_drops_the_keys_of_an_object_without_properties(ask: Asker) -> None:
    """Such an object may have any keys in an apply configuration, also with strict validation of fields."""
    schema = spec_schema({"items": {"type": "array", "items": {"type": "object"}}})
    assert ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition(schema))[0] == 201
    path = f"/apis/{GROUP}/v1/namespaces/default/things"
    code, applied = ask(
        "PATCH", f"{path}/a", thing({"items": [{"any": 1}]}), headers=APPLY, fieldManager="m", fieldValidation="Strict"
    )
    assert (code, applied["spec"]) == (201, {"items": [{}]})
    undeclared = thing({"any": 1})
    assert ask("PATCH", f"{path}/a", undeclared, headers=APPLY, fieldManager="m", fieldValidation="Ignore")[0] == 500


def test_keys_that_an_apply_drops_count_as_a_change(ask: Asker) -> None:
    """An apply whose keys are dropped increments the generation each time, as kube-apiserver does."""
    schema = spec_schema({"items": {"type": "array", "items": {"type": "object"}}})
    ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition(schema))
    path = f"/apis/{GROUP}/v1/namespaces/default/things/a"

    def generation(item: dict[str, int]) -> int:
        code, applied = ask("PATCH", path, thing({"items": [item]}), headers=APPLY, fieldManager="m")
        assert code in (200, 201)
        found: int = applied["metadata"]["generation"]
        return found

    dropped = {"any": 1}
    assert [generation(each) for each in ({}, {}, dropped, dropped, {})] == [1, 1, 2, 3, 3]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"kind": "ConfigMap"}, "invalid object type: /, Kind=ConfigMap"),
        ({"apiVersion": "apps/v1", "kind": "ConfigMap"}, "invalid object type: apps/v1, Kind=ConfigMap"),
        ({"apiVersion": "v1", "kind": "Secret"}, "invalid object type: /v1, Kind=Secret"),
        (
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"managedFields": []}},
            "metadata.managedFields must be nil",
        ),
    ],
)
def test_an_apply_names_its_kind(ask: Asker, body: dict[str, object], message: str) -> None:
    """An apply without its group, version and kind, or with managed fields, is refused."""
    code, status = ask("PATCH", f"{CONFIGMAPS}/a", body, headers=APPLY, fieldManager="me")
    assert (code, status["message"]) == (400, message)


CONTROLLER = {
    "selector": {"a": "b"},
    "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
}


def test_a_patch_cannot_make_the_kind_a_number(ask: Asker) -> None:
    """The error is that of the decoder, which looks for the kind first."""
    ask.make("a")
    operations = [{"op": "replace", "path": "/kind", "value": 5}]
    headers = {"Content-Type": "application/json-patch+json"}
    code, refused = ask("PATCH", f"{CONFIGMAPS}/a", operations, headers=headers)
    assert code == 422
    assert refused["message"].endswith("json: cannot unmarshal number into Go struct field .kind of type string")


def test_a_whole_float_is_an_integer_in_a_strategic_merge_patch(ask: Asker) -> None:
    """Kubernetes' converter accepts 3.0 where the decoder of other patches refuses it."""
    path = "/api/v1/namespaces/default/replicationcontrollers"
    assert ask("POST", path, {"metadata": {"name": "a"}, "spec": {"replicas": 1, **CONTROLLER}})[0] == 201
    found = {}
    for form in ("strategic-merge-patch", "merge-patch"):
        headers = {"Content-Type": f"application/{form}+json"}
        code, changed = ask("PATCH", f"{path}/a", b'{"spec": {"replicas": 3.0}}', headers=headers)
        found[form] = (code, changed.get("spec", {}).get("replicas"))
    assert found == {"strategic-merge-patch": (200, 3), "merge-patch": (422, None)}


def test_an_apply_that_creates_an_object_names_it(ask: Asker) -> None:
    """The name of the URL is not enough for a new object; an object that exists has its name."""
    path, body = f"{CONFIGMAPS}/a", {"apiVersion": "v1", "kind": "ConfigMap", "data": {"k": "v"}}
    code, told = ask("PATCH", path, body, headers=APPLY, fieldManager="m")
    why = "the name of the object (a based on URL) was undeterminable: name must be provided"
    assert (code, told["message"]) == (400, why)
    ask.make("a")
    assert ask("PATCH", path, body, headers=APPLY, fieldManager="m")[1]["data"] == {"k": "v"}
