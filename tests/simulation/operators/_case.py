"""The parts that the operators of this folder have in common: the case, owned ConfigMaps, and a status."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from pyctrl.api import ObjectMeta, is_controlled_by, set_controller_reference
from pyctrl.client import Client, merge_from
from pyctrl.controller import Controller, ManagedCluster
from pyctrl.errors import PyctrlError
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.simulation import World

NAMESPACE = "default"
GROUP = "sim.example.com"


class ForeignObject(PyctrlError):
    """Raised when the name of a child is taken by an object that the parent does not own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """An operator with a mistake and the same operator without it.

    Attributes:
        name: the name of the mistake, and of the test.
        buggy: adds the operator with the mistake.
        fixed: adds the operator without it.
        scenario: what users do. Without faults both versions reach the same end state.
        kinds: the custom resources of the operator.
        story: words that the story of the failure contains.
        family: the family of plans that finds it; "" if it shows without faults.
        replicas: how many processes of the operator run.
    """

    name: str
    buggy: Callable[[ManagedCluster, World], Controller]
    fixed: Callable[[ManagedCluster, World], Controller]
    scenario: Callable[[Client, World], Awaitable[None]]
    kinds: tuple[type[Any], ...]
    story: str
    family: str = ""
    replicas: int = 1


def meta(name: str, **fields: Any) -> ObjectMeta:
    """Return the metadata of an object in the namespace of the scenarios."""
    return ObjectMeta(name=name, namespace=NAMESPACE, **fields)


def owned(owner: Any, name: str, data: dict[str, str]) -> ConfigMap:
    """Return a ConfigMap that is controlled by ``owner``."""
    child = ConfigMap(metadata=meta(name), data=data)
    set_controller_reference(owner, child)
    return child


async def ensure(client: Client, owner: Any, wanted: ConfigMap) -> None:
    """Create a child, or repair its data.

    Raises:
        ForeignObject: an object of this name belongs to somebody else, or to a former owner of the same name.
    """
    found = await client.find(ConfigMap, wanted.key)
    if found is None:
        await client.create(wanted)
        return
    if not is_controlled_by(found, owner):
        raise ForeignObject(f"ConfigMap {found.key} exists and is not controlled by {owner.kind} {owner.key}")
    if found.data != wanted.data:
        patch = merge_from(found, optimistic_lock=True)
        found.data = dict(wanted.data)
        await client.patch(found, patch)


async def report(client: Client, obj: Any, **status: Any) -> None:
    """Write fields of the status if they differ."""
    if all(getattr(obj.status, field) == value for field, value in status.items()):
        return
    patch = merge_from(obj, optimistic_lock=True)
    for field, value in status.items():
        setattr(obj.status, field, value)
    await client.status.patch(obj, patch)
