"""Policies, bindings, and the objects with their parameters."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.apiserver._kit import CONFIGMAPS, Asker
from tests.unit.apiserver.admission._policies import apply_configuration, bind_mutating

NAMES = apply_configuration('Object{data: {params.metadata.name: "x"}}')


def _written(ask: Asker, name: str = "a") -> tuple[int, Any]:
    code, made = ask("POST", CONFIGMAPS, {"metadata": {"name": name}})
    return code, made.get("data") if code == 201 else made["message"]


def test_a_policy_is_evaluated_once_for_each_object_of_parameters(ask: Asker) -> None:
    """A selector may select several objects."""
    selector = {
        "matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-node-lease"]}]
    }
    reference = {"selector": selector, "parameterNotFoundAction": "Deny"}
    bind_mutating(ask, NAMES, paramKind={"apiVersion": "v1", "kind": "Namespace"}, binding={"paramRef": reference})
    assert _written(ask) == (201, {"default": "x", "kube-public": "x", "kube-system": "x"})


@pytest.mark.parametrize(
    ("kind", "reference", "why"),
    [
        ("ConfigMap", {"name": "nix"}, "no params found for policy binding with `Deny` parameterNotFoundAction"),
        (
            "Namespace",
            {"name": "default", "namespace": "x"},
            "paramRef.namespace must not be provided for a cluster-scoped `paramKind`",
        ),
    ],
)
def test_a_reference_without_an_object_is_a_configuration_error(
    ask: Asker, kind: str, reference: Any, why: str
) -> None:
    """The message names the binding."""
    reference = {**reference, "parameterNotFoundAction": "Deny"}
    bind_mutating(ask, NAMES, paramKind={"apiVersion": "v1", "kind": kind}, binding={"paramRef": reference})
    message = f"policy 'p' with binding 'p' denied request: failed to configure binding: {why}"
    assert _written(ask) == (403, message)


def test_without_an_object_the_policy_is_skipped_if_that_is_allowed(ask: Asker) -> None:
    """With parameterNotFoundAction Allow nothing is evaluated."""
    reference = {"name": "nix", "parameterNotFoundAction": "Allow"}
    bind_mutating(ask, NAMES, paramKind={"apiVersion": "v1", "kind": "ConfigMap"}, binding={"paramRef": reference})
    assert _written(ask) == (201, None)


def test_a_binding_selects_writes_too(ask: Asker) -> None:
    """A policy applies if both its matchConstraints and the matchResources of its binding match."""
    selector = {"matchLabels": {"a": "b"}}
    bind_mutating(
        ask,
        apply_configuration('Object{data: {"x": "1"}}'),
        binding={"matchResources": {"objectSelector": selector}},
    )
    assert _written(ask) == (201, None)
    code, made = ask("POST", CONFIGMAPS, {"metadata": {"name": "b", "labels": {"a": "b"}}})
    assert (code, made["data"]) == (201, {"x": "1"})


def test_parameters_are_in_the_namespace_of_the_reference(ask: Asker) -> None:
    """A namespace in the reference wins over that of the object."""
    body = {"metadata": {"name": "limits"}}
    assert ask("POST", "/api/v1/namespaces/kube-system/configmaps", body)[0] == 201
    reference = {"name": "limits", "namespace": "kube-system", "parameterNotFoundAction": "Deny"}
    bind_mutating(ask, NAMES, paramKind={"apiVersion": "v1", "kind": "ConfigMap"}, binding={"paramRef": reference})
    assert _written(ask) == (201, {"limits": "x"})


def test_a_namespace_has_no_namespace(ask: Asker) -> None:
    """For a Namespace, `namespaceObject` is null, as for every object without a namespace."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["namespaces"], "operations": ["UPDATE"]}
    text = "Object{metadata: Object.metadata{labels: {'null': string(namespaceObject == null)}}}"
    bind_mutating(ask, apply_configuration(text), rule=rule)
    headers = {"Content-Type": "application/merge-patch+json"}
    code, made = ask("PATCH", "/api/v1/namespaces/default", {"metadata": {"labels": {"a": "b"}}}, headers=headers)
    assert (code, made["metadata"]["labels"]["null"]) == (200, "true")
