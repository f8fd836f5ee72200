"""The examples as programs whose permissions are tested: their setup, and a scenario that uses every permission."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NoReturn

from examples.evc.evc import EphemeralVolumeClaim, add_evc
from examples.podset.podset import PodSet, add_podset
from pyctrl.api import Access, Key
from pyctrl.client import Client, Config, MergePatch, wait_for, wait_for_list, wait_until_gone
from pyctrl.kinds.events.v1 import Event
from pyctrl.manager import Manager
from tests.integration._operators import DEFINITION, EVC_DEFINITION, evc, has_come_to, has_nodes, podset

Wire = Callable[[Manager], object]


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a scenario runs: the administrator's client, the namespace and the class of volumes."""

    client: Client
    namespace: str
    storage_class: str


@dataclass(frozen=True, kw_only=True)
class Program:
    """An example in one of its setups.

    Attributes:
        name: for test ids.
        definition: the definition of its kind.
        wire: returns the function that adds the example to a manager.
        live: runs its scenario, and returns when it has succeeded.
        rights: the permissions that it declares, cluster-wide.
    """

    name: str
    definition: Path
    wire: Callable[[str], Wire]
    live: Callable[[Place], Awaitable[None]]
    rights: Sequence[Access] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rights", asyncio.run(_rights(self.wire("standard"))))

    def __str__(self) -> str:
        return self.name


async def _rights(wire: Wire) -> list[Access]:
    async with Manager(Config.in_process(_NoServer())) as manager:
        wire(manager)
        return manager.grants().accesses()


class _NoServer:
    async def handle(
        self, method: str, path: str, query: Sequence[tuple[str, str]], headers: Mapping[str, str], body: bytes
    ) -> NoReturn:
        raise AssertionError(f"wiring asks no server, but {method} {path} was asked for")


async def _live_as_podset(place: Place) -> None:
    key = (await place.client.create(podset(place.namespace, 1))).key
    await has_nodes(place.client, key, 1)
    await place.client.patch(PodSet, key, MergePatch({"spec": {"size": 2}}))
    await has_nodes(place.client, key, 2)


async def _live_as_evc(place: Place) -> None:
    key = (await place.client.create(evc(place.namespace, None))).key
    for size in ("two", None):  # a repeated Event is one object, created first and patched later
        await has_come_to(place.client, key, "InvalidSize")
        await _resize(place, key, size)
    await wait_for_list(place.client, Event, _are_a_series, namespace=place.namespace)
    for size in ("1G", "2G"):
        await _resize(place, key, size)
        await wait_for(place.client, EphemeralVolumeClaim, key, partial(_has_size, size))


async def _live_as_evc_with_finalizer(place: Place) -> None:
    await _live_as_evc(place)
    [claim] = await place.client.list(EphemeralVolumeClaim, namespace=place.namespace)
    await place.client.delete(claim)
    await wait_until_gone(place.client, EphemeralVolumeClaim, claim.key)


async def _resize(place: Place, key: Key, size: str | None) -> None:
    await place.client.patch(EphemeralVolumeClaim, key, MergePatch({"spec": {"size": size}}))


def _are_a_series(events: Sequence[Event]) -> bool:
    return any(event.reason == "InvalidSize" and event.series is not None for event in events)


def _has_size(size: str, claim: EphemeralVolumeClaim) -> bool:
    return claim.status.size == size


def _wire_evc(storage_class: str) -> Wire:
    return partial(add_evc, storage_class=storage_class)


def _wire_evc_with_finalizer(storage_class: str) -> Wire:
    return partial(add_evc, storage_class=storage_class, finalizer=True)


PROGRAMS = (
    Program(name="podset", definition=DEFINITION, wire=lambda _: add_podset, live=_live_as_podset),
    Program(name="evc", definition=EVC_DEFINITION, wire=_wire_evc, live=_live_as_evc),
    Program(
        name="evc --finalizer",
        definition=EVC_DEFINITION,
        wire=_wire_evc_with_finalizer,
        live=_live_as_evc_with_finalizer,
    ),
)
