"""Namespaces: finalizer, phase and label."""

from __future__ import annotations

from pyctrl.apiserver import ResourceRegistry
from tests.unit.apiserver._objects import create


def test_a_new_namespace_has_finalizer_phase_and_label() -> None:
    """It is active, has its name as a label, and the finalizer `kubernetes` in its spec."""
    created, _ = create(ResourceRegistry(), {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}})
    assert created["spec"] == {"finalizers": ["kubernetes"]}
    assert created["status"] == {"phase": "Active"}
    assert created["metadata"]["labels"] == {"kubernetes.io/metadata.name": "n"}
