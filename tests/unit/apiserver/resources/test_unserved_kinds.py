"""Kinds of versions that are known and not served."""

from __future__ import annotations

from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._resources.unserved_kinds import UNSERVED_KINDS


def test_none_of_these_kinds_is_served() -> None:
    """No listed version of a kind is served, and the server knows each of them."""
    registry = ResourceRegistry()
    assert "Ingress" in UNSERVED_KINDS["networking.k8s.io/v1beta1"]
    for api_version, kinds in UNSERVED_KINDS.items():
        group, _, version = api_version.rpartition("/")
        assert [kind for kind in kinds if registry.by_kind(group, version, kind)] == []
        assert all(registry.is_registered(api_version, kind) for kind in kinds)
