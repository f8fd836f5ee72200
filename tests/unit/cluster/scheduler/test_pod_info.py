"""Host ports and affinity terms of pods."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.cluster._scheduler.pod_info import (
    affinity_term_matches,
    host_ports,
    host_ports_conflict,
    new_pod_info,
)
from pyctrl.kinds.core.v1 import PodAffinityTerm
from tests.unit.cluster._pods import pod


def test_host_ports_conflict_on_the_same_or_every_address() -> None:
    """Address, protocol and port identify a host port."""
    ports = [{"containerPort": 1}, {"containerPort": 80, "hostPort": 80, "hostIP": "10.0.0.1"}]
    found = host_ports(pod(containers=[{"name": "c", "image": "i", "ports": ports}]))
    assert found == {("10.0.0.1", "TCP", 80)}
    assert host_ports_conflict(found, {("0.0.0.0", "TCP", 80)})
    assert not host_ports_conflict(found, {("10.0.0.2", "TCP", 80), ("10.0.0.1", "UDP", 80)})


@pytest.mark.parametrize(
    ("term", "is_match"),
    [
        ({"labelSelector": {"matchLabels": {"app": "p"}}}, True),
        ({"labelSelector": {"matchLabels": {"app": "x"}}}, False),
        ({}, False),
        ({"labelSelector": {}, "namespaces": ["other"]}, False),
        ({"labelSelector": {}, "namespaces": ["default"]}, True),
        ({"labelSelector": {}, "namespaceSelector": {}}, True),
    ],
)
def test_affinity_terms(term: dict[str, Any], is_match: bool) -> None:
    """A term matches pods of its namespaces, by default of its pod's own one."""
    made = PodAffinityTerm.from_wire({"topologyKey": "zone", **term})
    assert affinity_term_matches(made, "default", new_pod_info(pod(), "n")) is is_match
