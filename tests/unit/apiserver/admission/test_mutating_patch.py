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
            "Object{metadata: {'labels': {'a': 'b'}}}",
            "failed to convert patch object to typed object: .metadata.labels: expected map, got &{map[a:b]}",
        ),
        (
            "Object{data: {'k': {'a': 1, 'b': 2}}}",
            (
                "failed to convert patch object to typed object: .data.k: expected string, got "
                '&value.valueUnstructured{Value:map[ref.Val]ref.Val{"a":1, "b":2}}'
            ),
        ),
        (
            "Object{data: {'k': ['a']}}",
            (
                "failed to convert patch object to typed object: .data.k: expected string, got "
                '&value.valueUnstructured{Value:[]ref.Val{"a"}}'
            ),
        ),
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
    """Undeclared fields, nulls, literals inside of literals and atomic values are refused."""
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


DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
DEPLOYMENT_RULE = {"apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments"], "operations": ["CREATE"]}
ATOMIC = "may not mutate atomic arrays, maps or structs"
CPU = '.spec.template.spec.containers[name="c"].resources.limits.cpu'
UNTYPED = "failed to convert patch object to typed object"
CONTAINER = "Object.spec.template.spec.containers"


@pytest.mark.parametrize(
    ("field", "why"),
    [
        (
            "args: ['y']",
            f"invalid ApplyConfiguration: {ATOMIC}: .spec.template.spec.containers[0].args",
        ),
        (
            f"resources: {CONTAINER}.resources{{limits: {{'cpu': quantity('1500m')}}}}",
            f"{UNTYPED}: {CPU}: expected any scalar, got &{{1500m}}",
        ),
    ],
)
def test_values_that_cannot_be_applied_have_the_messages_of_a_cluster(ask: Asker, field: str, why: str) -> None:
    """An atomic list, and a value that is no JSON, are refused with the path of the item in its list."""
    inside = f"Object.spec.template.spec{{containers: [{CONTAINER}{{name: 'c', {field}}}]}}"
    text = f"Object{{spec: Object.spec{{template: Object.spec.template{{spec: {inside}}}}}}}"
    bind_mutating(ask, apply_configuration(text), rule=DEPLOYMENT_RULE)
    template = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [{"name": "c", "image": "i", "args": ["x"]}]},
    }
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    code, status = ask("POST", DEPLOYMENTS, {"metadata": {"name": "a"}, "spec": spec})
    assert (code, status["message"]) == (
        403,
        f"policy 'p' with binding 'p' denied request: error applying patch: {why}",
    )


def test_a_configuration_that_does_not_decode_is_an_error_of_the_policy(ask: Asker) -> None:
    """A text that is no base64 denies the write with the policy's name; failurePolicy Ignore lets it pass."""
    mutation = apply_configuration("Object{binaryData: {'x': '?'}}")
    bind_mutating(ask, mutation)
    why = "unable to convert unstructured object to /v1, Kind=ConfigMap: error decoding from json: illegal base64 data"
    code, status = ask("POST", CONFIGMAPS, BODY)
    assert (code, status["message"]) == (
        403,
        f"policy 'p' with binding 'p' denied request: {why} at input byte 0",
    )
    ignored = Asker()
    bind_mutating(ignored, mutation, failurePolicy="Ignore")
    assert ignored("POST", CONFIGMAPS, BODY)[0] == 201
