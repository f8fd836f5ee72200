"""Patches of MutatingAdmissionPolicies on an object, as of a kube-apiserver 1.36."""

from __future__ import annotations

import pytest

from tests.unit.apiserver._kit import CONFIGMAPS, Asker
from tests.unit.apiserver.admission._policies import apply_configuration, bind_mutating, json_patch

BODY = {"metadata": {"name": "a", "finalizers": ["x/y"]}, "data": {"k": "v"}}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Object{spec: 1}", "failed to convert patch object to typed object: .spec: field not declared in schema"),
        (
            "Object{immutable: null}",
            "failed to convert patch object to typed object: .immutable: expected boolean, got &{NULL_VALUE}",
        ),
        (
            "Object{metadata: Object.metadata{ownerReferences: [Object.metadata.ownerReferences{uid: 'u'}]}}",
            "invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .metadata.ownerReferences[0]",
        ),
    ],
)
def test_a_configuration_fits_the_schema(ask: Asker, text: str, why: str) -> None:
    """Undeclared fields, nulls and atomic values are refused."""
    bind_mutating(ask, apply_configuration(text))
    code, status = ask("POST", CONFIGMAPS, BODY)
    assert code == 403
    assert status["message"] == f"policy 'p' with binding 'p' denied request: error applying patch: {why}"


def test_names_of_types_are_checked(ask: Asker) -> None:
    """A wrong type name denies the write when the policy is evaluated."""
    bind_mutating(ask, apply_configuration("Object{data: Object.nix{a: 'b'}}"))
    message = ask("POST", CONFIGMAPS, BODY)[1]["message"]
    assert 'type mismatch: unexpected type name "Object.nix", expected "Object.data"' in message


def test_keys_of_maps_are_strings(ask: Asker) -> None:
    """Another key cannot become JSON."""
    bind_mutating(ask, apply_configuration("Object{data: {1: 'b'}}"))
    assert ask("POST", CONFIGMAPS, BODY)[1]["message"].endswith("invalid return type: *dynamic.ObjectVal")


def test_a_configuration_is_merged_as_by_server_side_apply(ask: Asker) -> None:
    """Maps are merged by key, and sets by item."""
    text = 'Object{metadata: Object.metadata{finalizers: ["z/y"]}, data: {"n": "w"}}'
    bind_mutating(ask, apply_configuration(text))
    code, made = ask("POST", CONFIGMAPS, BODY)
    assert code == 201
    assert (made["metadata"]["finalizers"], made["data"]) == (["x/y", "z/y"], {"k": "v", "n": "w"})


def test_a_json_patch_whose_test_fails_changes_nothing(ask: Asker) -> None:
    """The write goes on with the object as it is."""
    bind_mutating(ask, json_patch("[JSONPatch{op: 'test', path: '/data/k', value: 1}, JSONPatch{op: 'nix'}]"))
    assert ask("POST", CONFIGMAPS, BODY)[1]["data"] == {"k": "v"}


@pytest.mark.parametrize(
    ("text", "code", "why"),
    [
        ("JSONPatch{op: 'remove', path: '/data/x'}", 403, "Unable to remove nonexistent key: x: missing value"),
        ("JSONPatch{op: 'copy', path: '/x'}", 403, "operation, missing from field: missing value"),
        ("JSONPatch{op: 'add', path: '/x', value: 1}", 500, 'strict decoding error: unknown field "x"'),
        ("JSONPatch{op: 'add', path: '/x', value: type(1)}", 403, "type conversion not supported for 'type'"),
    ],
)
def test_a_json_patch_that_does_not_apply_denies_the_write(ask: Asker, text: str, code: int, why: str) -> None:
    """An object that does not decode is an internal error, as upstream."""
    bind_mutating(ask, json_patch(f"[{text}]"))
    denied, status = ask("POST", CONFIGMAPS, BODY)
    assert denied == code
    assert status["message"].endswith(why)
