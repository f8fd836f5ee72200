"""Webhook configurations and admission policies."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.apiserver._hooks import CONFIGMAP_RULE, World, webhook
from tests.unit.apiserver.registry._tables import Row, cells_of, row_id


@pytest.fixture
def world() -> World:
    """Return a server that calls webhooks in this process."""
    return World()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"name": "short"}, "should be a domain with at least three segments separated by dots"),
        ({"clientConfig": {}}, "webhooks[0].clientConfig: Required value: exactly one of url or service is required"),
        ({"clientConfig": {"url": "http://a/"}}, "'https' is the only allowed URL scheme; desired format"),
        ({"sideEffects": "Some"}, 'supported values: "None", "NoneOnDryRun"'),
        ({"timeoutSeconds": 31}, "the timeout value must be between 1 and 30 seconds"),
        ({"admissionReviewVersions": ["v2"]}, "must include at least one of v1, v1beta1"),
        (
            {"rules": [{**CONFIGMAP_RULE, "resources": ["*", "pods"]}]},
            "if '*' is present, must not specify other resources without subresources",
        ),
        ({"matchConditions": [{"name": "c", "expression": "1"}]}, "must evaluate to bool but got int"),
        ({"matchConditions": [{"name": "c", "expression": "nix"}]}, "undeclared reference to 'nix' (in container '')"),
    ],
)
async def test_a_configuration_that_cannot_work_is_refused(world: World, change: dict[str, Any], why: str) -> None:
    """The messages are kube-apiserver's."""
    body = {"metadata": {"name": "v"}, "webhooks": [webhook("v.example.com", **change)]}
    path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
    code, status = await world.ask("POST", path, body)
    assert code == 422
    assert why in status["message"]


ROWS: list[Row] = [
    (
        ("admissionregistration.k8s.io", "v1", "validatingadmissionpolicies"),
        {"spec": {"validations": [{}, {}], "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}},
        [2, "v1/ConfigMap"],
    ),
    (
        ("admissionregistration.k8s.io", "v1", "mutatingadmissionpolicies"),
        {"spec": {"mutations": [{}]}},
        [1, "<unset>"],
    ),
    (
        ("admissionregistration.k8s.io", "v1", "validatingadmissionpolicybindings"),
        {"spec": {"policyName": "p", "paramRef": {"name": "x", "namespace": "y"}}},
        ["p", "y/x"],
    ),
    (
        ("admissionregistration.k8s.io", "v1", "mutatingadmissionpolicybindings"),
        {"spec": {"policyName": "p"}},
        ["p", "<unset>"],
    ),
]


@pytest.mark.parametrize(("place", "obj", "cells"), ROWS, ids=row_id)
def test_cells_of_a_row(place: tuple[str, str, str], obj: dict[str, Any], cells: list[Any]) -> None:
    """A row has the cells that kube-apiserver 1.36 shows for the object."""
    assert cells_of(place, obj) == cells
