"""Policies and bindings for tests."""

from __future__ import annotations

from typing import Any

from tests.unit.apiserver._kit import Asker

ADMISSION = "/apis/admissionregistration.k8s.io/v1"
RULE = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE", "UPDATE"]}


def apply_configuration(text: str) -> dict[str, Any]:
    """Return a mutation."""
    return {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": text}}


def json_patch(text: str) -> dict[str, Any]:
    """Return a mutation."""
    return {"patchType": "JSONPatch", "jsonPatch": {"expression": text}}


def bind_mutating(ask: Asker, *mutations: dict[str, Any], name: str = "p", **spec: Any) -> None:
    """Create a MutatingAdmissionPolicy of ConfigMaps with a binding. `binding` has the spec of the binding."""
    binding = spec.pop("binding", {})
    constraints = {"resourceRules": [spec.pop("rule", RULE)]}
    body = {"matchConstraints": constraints, "reinvocationPolicy": "Never", "mutations": mutations, **spec}
    code, made = ask("POST", f"{ADMISSION}/mutatingadmissionpolicies", {"metadata": {"name": name}, "spec": body})
    assert code == 201, made
    bound = {"metadata": {"name": name}, "spec": {"policyName": name, **binding}}
    code, made = ask("POST", f"{ADMISSION}/mutatingadmissionpolicybindings", bound)
    assert code == 201, made


def bind_validating(ask: Asker, **spec: Any) -> None:
    """Create a ValidatingAdmissionPolicy `p` of ConfigMaps with a binding `b`."""
    binding = {"policyName": "p", "validationActions": ["Deny"], **spec.pop("binding", {})}
    body = {"metadata": {"name": "p"}, "spec": {"matchConstraints": {"resourceRules": [RULE]}, **spec}}
    code, made = ask("POST", f"{ADMISSION}/validatingadmissionpolicies", body)
    assert code == 201, made
    bound = {"metadata": {"name": "b"}, "spec": binding}
    code, made = ask("POST", f"{ADMISSION}/validatingadmissionpolicybindings", bound)
    assert code == 201, made
