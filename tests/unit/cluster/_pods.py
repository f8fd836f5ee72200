"""Helpers of the tests of pods on simulated nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pyctrl.api import Key
from pyctrl.client import Client, wait_for
from pyctrl.kinds.core.v1 import Event, Pod


def pod(name: str = "p", *, annotations: Mapping[str, str] | None = None, **spec: Any) -> Pod:
    """Make a pod in the default namespace; ``spec`` is in wire format, with one container by default."""
    spec.setdefault("containers", [{"name": "c", "image": "busybox:1.36"}])
    metadata = {"name": name, "namespace": "default", "annotations": dict(annotations or {}), "labels": {"app": name}}
    return Pod.from_wire({"metadata": metadata, "spec": spec})


def scripted(**script: str) -> dict[str, str]:
    """Return annotations: ``scripted(exit_code="1")``."""
    return {f"pyctrl.dev/{name.replace('_', '-')}": value for name, value in script.items()}


def conditions(found: Pod) -> dict[str, tuple[str, str | None]]:
    """Return the conditions by type: status and reason."""
    return {each.type: (each.status, each.reason) for each in found.status.conditions}


def waits(found: Pod) -> list[str | None]:
    """Return the reasons of waiting containers, None for others."""
    return [each.state.waiting.reason if each.state.waiting else None for each in found.status.container_statuses]


async def until(client: Client, name: str, is_so: Callable[[Pod], bool]) -> Pod:
    """Wait for a condition on a pod."""
    return await wait_for(client, Pod, Key("default", name), is_so)


async def until_phase(client: Client, name: str, phase: str) -> Pod:
    """Wait until a pod is in a phase."""
    return await until(client, name, lambda found: found.status.phase == phase)


async def reasons(client: Client, name: str) -> list[str | None]:
    """Return the reasons of the events about an object, in order of creation."""
    events = await client.list(Event, fields={"involvedObject.name": name})
    return [event.reason for event in sorted(events, key=lambda event: event.metadata.name)]
