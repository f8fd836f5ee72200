"""Resource requests, host ports and affinity terms of pods."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from pyctrl.cluster._scheduler.pod_info import (
    affinity_term_matches,
    host_ports,
    host_ports_conflict,
    new_pod_info,
    pod_requests,
)
from pyctrl.kinds.core.v1 import PodAffinityTerm
from tests.unit.cluster._pods import pod


def container(cpu: str, **more: Any) -> dict[str, Any]:
    """Make a container with a CPU request."""
    return {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}, **more}


@pytest.mark.parametrize(
    ("init", "cpu"),
    [
        ([], "3"),
        ([container("5")], "5"),
        ([container("1", restartPolicy="Always")], "4"),
        ([container("1", restartPolicy="Always"), container("2.5")], "4"),
        ([container("1", restartPolicy="Always"), container("5")], "6"),
    ],
)
def test_requests_are_those_of_the_busiest_phase(init: list[dict[str, Any]], cpu: str) -> None:
    """Requests of sidecars add to those of init containers and containers; overhead and one pod are added."""
    found = pod_requests(pod(containers=[container("1"), container("2")], initContainers=init, overhead={"cpu": "1"}))
    assert found == {"cpu": Decimal(cpu) + 1, "pods": 1}


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
