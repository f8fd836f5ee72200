"""Helpers of the tests of claims and volumes."""

from __future__ import annotations

from typing import Any

from pyctrl.api import Key
from pyctrl.client import Client, wait_for
from pyctrl.kinds.core.v1 import PersistentVolume, PersistentVolumeClaim


def claim(name: str = "c", size: str = "1Gi", *, annotations: dict[str, str] | None = None, **spec: Any) -> Any:
    """Make a claim, by default without a class."""
    metadata = {"name": name, "namespace": "default", "annotations": annotations or {}}
    asked = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, "storageClassName": ""}
    return PersistentVolumeClaim.from_wire({"metadata": metadata, "spec": {**asked, **spec}})


def volume(name: str, size: str, *, labels: dict[str, str] | None = None, **spec: Any) -> PersistentVolume:
    """Make a volume without a provisioner."""
    given = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": size}, "hostPath": {"path": "/x"}}
    return PersistentVolume.from_wire({"metadata": {"name": name, "labels": labels or {}}, "spec": {**given, **spec}})


async def bound(client: Client, name: str = "c") -> PersistentVolumeClaim:
    """Wait until a claim is bound."""
    return await wait_for(
        client, PersistentVolumeClaim, Key("default", name), lambda found: found.status.phase == "Bound"
    )


async def volume_phase(client: Client, name: str, phase: str) -> PersistentVolume:
    """Wait until a volume is in a phase."""
    return await wait_for(client, PersistentVolume, Key("", name), lambda found: found.status.phase == phase)
