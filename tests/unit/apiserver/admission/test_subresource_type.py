"""Policies that patch the objects of subresources with kinds of their own."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.apiserver._kit import Asker
from tests.unit.apiserver.admission._policies import apply_configuration, bind_mutating, json_patch

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
SCALE = {"apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments/scale"], "operations": ["UPDATE"]}
MERGE = {"Content-Type": "application/merge-patch+json"}


def scaled(ask: Asker, mutation: dict[str, Any]) -> tuple[int, Any]:
    """Return the answer to a patch of the Scale of a Deployment, under a policy."""
    bind_mutating(ask, mutation, rule=SCALE)
    labels = {"a": "b"}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    ask("POST", DEPLOYMENTS, {"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": labels}, "template": pod}})
    code, body = ask("PATCH", f"{DEPLOYMENTS}/d/scale", {"spec": {"replicas": 3}}, headers=MERGE)
    return code, body


@pytest.mark.parametrize(
    "mutation",
    [
        apply_configuration("Object{spec: Object.spec{replicas: object.spec.replicas + 4}}"),
        json_patch('[JSONPatch{op: "replace", path: "/spec/replicas", value: 7}]'),
    ],
)
def test_a_policy_changes_a_scale(ask: Asker, mutation: dict[str, Any]) -> None:
    """The Deployment gets the replicas of the patched Scale."""
    code, scale = scaled(ask, mutation)
    assert (code, scale["spec"]) == (200, {"replicas": 7})
    assert ask("GET", f"{DEPLOYMENTS}/d")[1]["spec"]["replicas"] == 7


@pytest.mark.parametrize(
    ("field", "why"),
    [
        ('replicas: "7"', ".spec.replicas: expected numeric (int or float), got string"),
        ("nope: 7", ".spec.nope: field not declared in schema"),
    ],
)
def test_a_configuration_that_does_not_fit_a_scale_is_refused(ask: Asker, field: str, why: str) -> None:
    """The write is denied with the field, and the Deployment stays."""
    code, status = scaled(ask, apply_configuration(f"Object{{spec: Object.spec{{{field}}}}}"))
    assert code == 403
    assert status["message"].endswith(f"failed to convert patch object to typed object: {why}")
    assert ask("GET", f"{DEPLOYMENTS}/d")[1]["spec"]["replicas"] == 1


def test_a_json_patch_that_does_not_fit_a_scale_fails(ask: Asker) -> None:
    """A patched Scale that does not decode is an internal error, as in a cluster."""
    code, status = scaled(ask, json_patch('[JSONPatch{op: "replace", path: "/spec/replicas", value: "7"}]'))
    assert (code, "spec.replicas" in status["message"]) == (500, True)
