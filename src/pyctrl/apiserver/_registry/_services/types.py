"""Which fields a service has, by its type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyctrl.apiserver._schema.schema import JSON

if TYPE_CHECKING:
    pass

__all__ = ["has_address", "has_health_port", "has_node_ports", "is_headless", "is_reached_from_outside"]


def has_address(spec: Mapping[str, JSON]) -> bool:
    """Return whether services of this type have a cluster IP."""
    return spec["type"] in ("ClusterIP", "NodePort", "LoadBalancer")


def is_reached_from_outside(spec: Mapping[str, JSON]) -> bool:
    """Return whether the service receives traffic from outside the cluster."""
    return spec["type"] in ("NodePort", "LoadBalancer") or (
        spec["type"] == "ClusterIP" and bool(spec.get("externalIPs"))
    )


def has_node_ports(spec: Mapping[str, JSON]) -> bool:
    """Return whether services of this type may have node ports."""
    return spec["type"] in ("NodePort", "LoadBalancer")


def has_health_port(spec: Mapping[str, JSON]) -> bool:
    """Return whether load balancers check the health of nodes for this service."""
    return spec["type"] == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def is_headless(spec: Mapping[str, JSON]) -> bool:
    """Return whether the service is headless: its cluster IP is None."""
    return spec.get("clusterIP") == "None" or (spec.get("clusterIPs") or [""]) == ["None"]
