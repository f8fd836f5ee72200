"""Roles, ClusterRoles and their bindings: defaults and validation."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._errors import StatusError
from tests.unit.apiserver._objects import complaints, create, update


def made(**fields: Any) -> dict[str, Any]:
    """Return an object of the kind."""
    valid: dict[str, Any] = {"roleRef": {"kind": "Role", "name": "r"}, "subjects": [{"kind": "User", "name": "jane"}]}
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "a"},
        **valid,
        **fields,
    }


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"roleRef": {"kind": "Pod", "name": "r"}}, 'roleRef.kind: Unsupported value: "Pod"'),
        ({"roleRef": {"kind": "Role", "name": ""}}, "roleRef.name: Required value"),
        ({"subjects": [{"kind": "Pod", "name": "a"}]}, 'subjects[0].kind: Unsupported value: "Pod"'),
        (
            {"subjects": [{"kind": "ServiceAccount", "name": "a", "apiGroup": "x"}]},
            'subjects[0].apiGroup: Unsupported value: "x"',
        ),
        (
            {"kind": "Role", "rules": [{"verbs": [], "apiGroups": [""], "resources": ["pods"]}]},
            "rules[0].verbs: Required value: verbs must contain at least one value",
        ),
        (
            {"kind": "Role", "rules": [{"verbs": ["get"], "nonResourceURLs": ["/x"]}]},
            'rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply',
        ),
        (
            {"kind": "ClusterRole", "aggregationRule": {}},
            "aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector",
        ),
    ],
)
def test_invalid_fields_are_refused(fields: dict[str, Any], complaint: str) -> None:
    """The error names the field, in kube-apiserver's words."""
    with pytest.raises(StatusError) as refused:
        create(ResourceRegistry(), made(**fields))
    assert complaints(refused.value)[0].startswith(complaint)


def test_a_binding_has_the_group_of_rbac_and_keeps_its_role() -> None:
    """Role and users default to RBAC's API group; the role reference is immutable."""
    registry = ResourceRegistry()
    created, _ = create(registry, made())
    assert created["roleRef"]["apiGroup"] == created["subjects"][0]["apiGroup"] == "rbac.authorization.k8s.io"
    with pytest.raises(StatusError, match="cannot change roleRef"):
        update(registry, made(roleRef={"kind": "Role", "name": "other"}), created)
