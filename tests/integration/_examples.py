"""The examples as programs whose rights are tested: how they are wired, and a life that takes every right they have."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from examples.podset.podset import PodSet, add_podset
from pyctrl.api import Access
from pyctrl.client import Client, Config, MergePatch
from pyctrl.manager import Manager

from ._operators import DEFINITION, has_nodes, podset

Wire = Callable[[Manager], object]


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a test plays: as whom may do everything, in which namespace, with which class of volumes."""

    client: Client
    namespace: str
    storage_class: str


@dataclass(frozen=True, kw_only=True)
class Program:
    """An example, wired in one of its ways.

    Attributes:
        name: for the ids of tests.
        definition: of its kind.
        wire: makes the function that wires it into a manager.
        live: plays its life, and returns when it has come through.
        rights: what it declares, in the whole cluster.
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


PODSET = Program(name="podset", definition=DEFINITION, wire=lambda _: add_podset, live=_live_as_podset)

PROGRAMS = (PODSET,)
