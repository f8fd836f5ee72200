"""Predicates on the specs of services: what a service of some type has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyctrl.apiserver._schema.schema import JSON

if TYPE_CHECKING:
    pass


def has_address(spec: Mapping[str, JSON]) -> bool:
    """Say whether services of this type have an address in the cluster."""
    return spec["type"] in ("ClusterIP", "NodePort", "LoadBalancer")


def is_reached_from_outside(spec: Mapping[str, JSON]) -> bool:
    """Say whether traffic comes from outside the cluster."""
    return spec["type"] in ("NodePort", "LoadBalancer") or (
        spec["type"] == "ClusterIP" and bool(spec.get("externalIPs"))
    )


def has_node_ports(spec: Mapping[str, JSON]) -> bool:
    """Say whether services of this type may have ports on nodes."""
    return spec["type"] in ("NodePort", "LoadBalancer")


def has_health_port(spec: Mapping[str, JSON]) -> bool:
    """Say whether a load balancer asks nodes if they have pods of this service."""
    return spec["type"] == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def is_headless(spec: Mapping[str, JSON]) -> bool:
    """Say whether the service has no address on purpose."""
    return spec.get("clusterIP") == "None" or (spec.get("clusterIPs") or [""]) == ["None"]
