"""The operators of the histories: PodSets, and Flocks, whose children have generated names."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from random import Random
from typing import Any

from examples.podset.podset import PodSet, add_podset
from pyctrl.api import KindLike, ObjectMeta
from pyctrl.cache import KindOptions, Selector
from pyctrl.client import Client
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import ConfigMap, Namespace, Pod
from pyctrl.manager import Group, Manager
from pyctrl.simulation import World
from tests.simulation._checks import Findings, Mirror, guard
from tests.simulation._flock import Flock, add_flocks
from tests.simulation._user import NAMESPACES, User

KINDS: tuple[type[Any], ...] = (PodSet, Deployment, Pod, Flock, ConfigMap)
SHARED: dict[type[Any], str] = {ConfigMap: "flock", Pod: "app=podSet"}  # labels of objects that may be watched twice

STEPS = (1, 3)
ACTIONS = (1, 8)


def add_operators(manager: Manager, world: World) -> None:
    """Add both operators, a subscriber of each kind, and what checks them."""
    findings = world.external(Findings)
    for add in (add_podset, add_flocks):
        guard(add(manager), findings)
    manager.cache.add_index(ConfigMap, "flock", lambda bird: [bird.metadata.labels.get("flock", "")])
    mirrors = findings.mirrors_of(manager)
    for kind in KINDS:
        mirrors[kind] = Mirror(manager, kind, findings)
        manager.add(mirrors[kind].run, group=Group.SERVERS)  # before the first list


def options_of(seed: int) -> dict[str, Any]:
    """Return options of the manager: one watch for all namespaces or one for each; a kind once, or twice in parts."""
    random = Random(f"{seed}/options")

    def draw(kind: type[Any]) -> KindOptions:
        twice = (Selector(), Selector(labels=SHARED[kind])) if kind in SHARED and random.random() < 0.5 else ()
        return KindOptions(selectors=twice, strip_managed_fields=random.random() < 0.5)

    kinds: dict[KindLike, KindOptions] = {kind: draw(kind) for kind in KINDS}
    return {"kinds": kinds, "namespaces": random.choice((None, NAMESPACES))}


def story_of(seed: int) -> Callable[[Client, World], Awaitable[None]]:
    """Return the scenario of a seed: some steps of some actions of a user."""

    async def story(client: Client, world: World) -> None:
        random, user = Random(f"{seed}/story"), User(client, seed)
        world.external(Findings).has_user(user)
        await client.create(Namespace(metadata=ObjectMeta(name=NAMESPACES[1])))
        for _ in range(random.randint(*STEPS)):
            for _ in range(random.randint(*ACTIONS)):
                await user.act()
            await world.settle()

    return story
