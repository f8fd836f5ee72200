"""Scenarios: what the user does in a run, from a function, from manifests, or from a file of them."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pyctrl.api import is_openapi_model
from pyctrl.client import Client
from pyctrl.program import manifest_files, read_manifests
from pyctrl.simulation._manifest_steps import Delete, ManifestStep, play, steps_of, texts
from pyctrl.simulation._resting_client import resting
from pyctrl.simulation._simulation import takes_two

__all__ = ["Delete", "FunctionScenario", "ManifestScenario", "Rests", "Scenario", "scenario_of"]

Json = dict[str, Any]


class Rests(Protocol):
    """The part of a world that a scenario needs."""

    async def settle(self, text: str = "") -> None:
        """Wait until the world is at rest, which ends a step of the scenario.

        Args:
            text: What the user did in it, for the story.
        """
        ...


class Scenario(Protocol):
    """What the user does in a run, the same in each run."""

    @property
    def name(self) -> str:
        """Its name, for reports."""
        ...

    @property
    def steps(self) -> tuple[str, ...]:
        """What it does step by step, as far as this is known before it runs."""
        ...

    async def run(self, client: Client, world: Any) -> None:
        """Run it once, with the client of the user, in a world: see `Rests`."""
        ...


@dataclass(frozen=True, slots=True)
class FunctionScenario:
    """A scenario that is an async function ``scenario(client)`` or ``scenario(client, world)``.

    After each write of a function of the client alone the world rests, as for a user who looks at the result before the
    next command; each write is a step. A function that takes the world, too, says itself when a step ends:
    ``await world.settle("what the user did")``. What it does after that is the last step.
    """

    function: Callable[..., Awaitable[None]]

    @property
    def name(self) -> str:
        """The function's name."""
        return getattr(self.function, "__name__", type(self.function).__name__)

    @property
    def steps(self) -> tuple[str, ...]:
        """Nothing: what a function does is only known when it does it."""
        return ()

    async def run(self, client: Client, world: Rests) -> None:
        """Call the function."""
        if takes_two(self.function):
            await self.function(client, world)
            await world.settle("end of the scenario")
        else:
            await self.function(resting(client, world.settle))


@dataclass(frozen=True, slots=True)
class ManifestScenario:
    """A scenario of manifests, edits and deletions; each is a step, after which the world rests."""

    name: str
    plan: tuple[ManifestStep, ...]

    @property
    def steps(self) -> tuple[str, ...]:
        """Each step in words, if the server refuses none."""
        return tuple(texts(self.plan))

    async def run(self, client: Client, world: Rests) -> None:
        """Do each step in turn."""
        await play(self.plan, client, world.settle)

    def without(self, steps: Iterable[str]) -> ManifestScenario:
        """Return the scenario without some steps, by their text; of the default scenario, after which nothing rests."""
        left_out = set(steps)
        kept = [step for step, text in zip(self.plan, texts(self.plan), strict=True) if text not in left_out]
        return ManifestScenario(self.name, tuple(kept))


def scenario_of(value: Any) -> Scenario:
    """Return the scenario that a user gave.

    - an async function: see `FunctionScenario`.
    - a list of manifests and edits:

          [PodSet(...), ("default/web", {"spec": {"size": 3}}), Delete("default/web")]

      A manifest is an object or a dict, and creates it; a manifest of the same object again changes it to that: fields
      that are gone are removed, as ``kubectl apply`` does. A pair of a name and a JSON merge patch edits an object
      of a manifest before it; the name is ``NAME``, ``NAMESPACE/NAME``, or ``KIND NAMESPACE/NAME`` if there are
      several. `Delete` deletes it. After each of them the world rests.
    - a path of a YAML file, or of a directory of them, in the order of names: its documents are such a list. An object
      that appears again is changed to that; a document with ``$patch: delete``, as kustomize has it, deletes it.
    - a scenario.

    Raises:
        CommandFailed: A file cannot be read.
        TypeError: It is none of these; the message says which item is wrong.
        ValueError: An edit or a deletion names an object that no manifest before it has.
    """
    if isinstance(value, (FunctionScenario, ManifestScenario)):
        return value
    if isinstance(value, (str, Path)):
        path = Path(value)
        objects = [manifest.obj for file in manifest_files(path) for manifest in read_manifests(file)]
        return ManifestScenario(path.name, tuple(steps_of(objects)))
    if inspect.iscoroutinefunction(value):
        return FunctionScenario(value)
    if _is_item(value):
        value = [value]
    if isinstance(value, Iterable):
        return ManifestScenario("manifests", tuple(steps_of(value)))
    raise TypeError(
        "expected a scenario: an async function of a client, a list of manifests and edits, or the path of a YAML file;"
        f" got {value!r}"
    )


def _is_item(value: Any) -> bool:
    return isinstance(value, (Mapping, Delete)) or hasattr(value, "to_wire") or is_openapi_model(value)
