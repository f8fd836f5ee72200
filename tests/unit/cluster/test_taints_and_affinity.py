"""Taints, tolerations and node affinity."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.cluster._taints_and_affinity import (
    matches_node,
    preferred_affinity_score,
    tolerates,
    untolerated_taints,
)
from pyctrl.kinds.core.v1 import Node, Taint, Toleration
from tests.unit.cluster._pods import pod

NODE = Node.from_wire({"metadata": {"name": "n", "labels": {"zone": "2", "disk": "ssd"}}})


@pytest.mark.parametrize(
    ("toleration", "is_tolerated"),
    [
        ({}, False),
        ({"operator": "Exists"}, True),
        ({"key": "k"}, False),
        ({"key": "k", "value": "5"}, True),
        ({"key": "k", "value": "5", "effect": "NoExecute"}, False),
        ({"key": "k", "operator": "Exists", "effect": "NoSchedule"}, True),
        ({"key": "k", "operator": "Gt", "value": "4"}, True),
        ({"key": "k", "operator": "Lt", "value": "4"}, False),
        ({"key": "k", "operator": "Lt", "value": "x"}, False),
    ],
)
def test_tolerations(toleration: dict[str, str], is_tolerated: bool) -> None:
    """An empty key requires Exists; an empty effect matches every effect."""
    taint = Taint(key="k", value="5", effect="NoSchedule")
    made = Toleration.from_wire(toleration)
    assert tolerates(made, taint) is is_tolerated
    assert untolerated_taints([taint], [made], ("NoSchedule",)) == ([] if is_tolerated else [taint])
    assert untolerated_taints([taint], [], ("NoExecute",)) == []


@pytest.mark.parametrize(
    ("expression", "is_match"),
    [
        ({"key": "zone", "operator": "In", "values": ["1", "2"]}, True),
        ({"key": "zone", "operator": "NotIn", "values": ["2"]}, False),
        ({"key": "gpu", "operator": "NotIn", "values": ["2"]}, True),
        ({"key": "disk", "operator": "Exists"}, True),
        ({"key": "disk", "operator": "DoesNotExist"}, False),
        ({"key": "zone", "operator": "Gt", "values": ["1"]}, True),
        ({"key": "disk", "operator": "Lt", "values": ["1"]}, False),
    ],
)
def test_node_affinity(expression: dict[str, Any], is_match: bool) -> None:
    """Required terms filter nodes, preferred terms add their weight."""
    terms = {"nodeSelectorTerms": [{}, {"matchExpressions": [expression]}]}
    weighted = [{"weight": 7, "preference": {"matchExpressions": [expression]}}]
    affinity = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": terms,
            "preferredDuringSchedulingIgnoredDuringExecution": weighted,
        }
    }
    assert matches_node(pod(affinity=affinity), NODE) is is_match
    assert preferred_affinity_score(pod(affinity=affinity), NODE) == (7 if is_match else 0)


def test_node_selectors() -> None:
    """Every label of the selector must match."""
    assert matches_node(pod(nodeSelector={"zone": "2", "disk": "ssd"}), NODE)
    assert not matches_node(pod(nodeSelector={"zone": "2", "disk": "hdd"}), NODE)
