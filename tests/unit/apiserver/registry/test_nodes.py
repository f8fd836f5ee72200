"""Validation of nodes."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._registry.nodes import RESOURCES
from tests.unit.apiserver.registry._refusals import refusals
from tests.unit.apiserver.registry._tables import cells_of

STRATEGY = RESOURCES[0].new_strategy()


@pytest.mark.parametrize(
    ("spec", "refused"),
    [
        ({"taints": [{"key": "a", "effect": "NoSchedule"}, {"key": "a", "effect": "NoExecute"}]}, []),
        ({"taints": [{"key": "a"}]}, ["metadata.taints[0].effect: Required value"]),
        (
            {"taints": [{"key": "a", "effect": "NoSchedule"}, {"key": "a", "value": "b", "effect": "NoSchedule"}]},
            ['metadata.taints[1]: Duplicate value: {"Key":"a","Value":"b","Effect":"NoSchedule","TimeAdded":nu'],
        ),
        (
            {"podCIDRs": ["10.0.0.0/24", "10.0.1.0/24"]},
            ['spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.0.1.0/24"]: may specify no more than one CIDR f'],
        ),
    ],
)
def test_new_nodes(spec: dict[str, Any], refused: list[str]) -> None:
    """Taints have different keys or effects, and each IP family at most one CIDR."""
    assert refusals(STRATEGY.validate({"spec": spec}, None)) == refused


def test_a_node_keeps_its_provider_and_its_cidr() -> None:
    """The provider's id and the CIDRs of a node are set once."""
    old = {"spec": {"providerID": "a", "podCIDRs": ["10.0.0.0/24"]}}
    assert refusals(STRATEGY.validate_update(None, {"spec": {}}, old)) == [
        'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
        'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid',
    ]


def test_the_first_cidr_is_in_both_fields() -> None:
    """The field podCIDR is the first of podCIDRs, whichever is set."""
    first: dict[str, Any] = {"spec": {"podCIDR": "10.0.0.0/24"}}
    second: dict[str, Any] = {"spec": {"podCIDRs": ["10.0.0.0/24"]}}
    for node in (first, second):
        STRATEGY.default(node)
        assert node["spec"] == {"podCIDR": "10.0.0.0/24", "podCIDRs": ["10.0.0.0/24"]}


def test_the_first_address_of_a_node_is_in_its_row() -> None:
    """A node with an IPv4 and an IPv6 address is shown with the one that it has first."""
    addresses = [{"type": "InternalIP", "address": each} for each in ("1.1.1.1", "::1")]
    cells = cells_of(("", "v1", "nodes"), {"status": {"addresses": addresses}})
    assert "1.1.1.1" in cells
    assert "::1" not in cells
