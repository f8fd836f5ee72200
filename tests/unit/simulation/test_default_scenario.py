"""The scenario that is made from samples and schemas."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import Field

from examples.podset.podset import add_podset
from pyctrl import CustomResource, Immutable, Model
from pyctrl.api import GroupVersionKind, Key
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, InProcessTransport
from pyctrl.controller import Builder, Reconciler, Request
from pyctrl.errors import CommandFailed
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import Manager
from pyctrl.program import DeclaredKinds, declared_kinds, install_definitions
from pyctrl.simulation._default_scenario import default_scenario, program_scenario
from pyctrl.simulation._external import External
from pyctrl.simulation._world import World as SimulatedWorld
from tests.unit.program._jobs import add_jobs

Json = dict[str, Any]

NONE = DeclaredKinds(kinds={}, webhooks=())


class ShopSpec(Model):
    image: Annotated[str, Field(pattern="^[a-z]+:[0-9]$")]
    storage: Annotated[str, Immutable()] = "fast"
    size: Annotated[int, Field(ge=0, le=3)] = 3


class Shop(CustomResource[ShopSpec], group="simulation.pyctrl.test", version="v1"):
    """A shop."""


SHOPS = DeclaredKinds(kinds={Shop.gvk.group_kind: (Shop,)}, webhooks=())

SAMPLES: list[Json] = [
    {
        "apiVersion": "simulation.pyctrl.test/v1",
        "kind": "Shop",
        "metadata": {"name": "shop", "namespace": "shops"},
        "spec": {"image": "a:1", "storage": "slow", "size": 3},
    },
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "prices", "namespace": "shops"}},
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shops"}},
]


class World:
    """Records what each step left."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.rests: list[str] = []
        self.specs: list[Json] = []

    async def settle(self, text: str = "") -> None:
        """Record a rest."""
        self.rests.append(text)
        self.specs += [shop.to_wire()["spec"] for shop in await self._client.list(Shop, namespace="shops")]


async def test_podset() -> None:
    """The sample of the project is created, changed, deleted and created again."""
    scenario = await program_scenario(add_podset)
    assert scenario.steps == (
        "create PodSet default/podset-sample",
        "change spec.size of PodSet default/podset-sample from 3 to 4",
        "change spec.size of PodSet default/podset-sample from 4 to 2",
        "delete PodSet default/podset-sample",
        "create PodSet default/podset-sample",
    )


async def test_run() -> None:
    """Other samples come first. What the schema refuses is not planned, what the server refuses is left out."""
    scenario = default_scenario(SHOPS, samples=SAMPLES)
    server = ApiServer()
    client = Client(InProcessTransport(server))
    await install_definitions(client, SHOPS.definitions())
    world = World(client)
    await scenario.run(client, world)
    assert world.rests == [
        "create Shop shops/shop",
        'change spec.image of Shop shops/shop from "a:1" to "a:2"',
        "change spec.size of Shop shops/shop from 3 to 2, spec.image back",
        "remove spec.size of Shop shops/shop",
        "delete Shop shops/shop",
        "create Shop shops/shop",
    ]
    assert "change spec.storage of" in str(scenario.steps)
    assert [(spec["image"], spec["size"]) for spec in world.specs] == [
        ("a:1", 3),
        ("a:2", 3),
        ("a:1", 2),
        ("a:1", 3),
        ("a:1", 3),
    ]
    assert (await client.get(ConfigMap, Key("shops", "prices"))).metadata.name == "prices"


async def test_a_reference_is_not_changed() -> None:
    """A field that names another sample keeps it: without that object the program would wait."""
    samples = [dict(each) for each in SAMPLES]
    free = default_scenario(SHOPS, samples=samples).steps
    shop = next(each for each in samples if each["kind"] == "Shop")
    other = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": shop["spec"]["image"], "namespace": "shops"}}
    bound = default_scenario(SHOPS, samples=[*samples, other]).steps

    assert any("spec.image" in step for step in free)
    assert not any("spec.image" in step for step in bound)


async def test_without_samples() -> None:
    """Without a sample, one is generated from the schema; of several versions, of the one that is stored."""
    scenario = default_scenario(await declared_kinds(add_jobs))
    assert scenario.steps[0] == "create Job default/job-sample"
    assert {step.manifest["apiVersion"] for step in scenario.plan} == {"installing.pyctrl.test/v2"}
    assert any("spec.schedule" in step for step in scenario.steps)


class Notes(External):
    """An external system."""


class Labeller(Reconciler[ConfigMap]):
    """Reconciles a built-in kind."""

    async def reconcile(self, request: Request) -> None:
        """Do nothing."""


def add_labeller(manager: Manager, world: SimulatedWorld) -> None:
    """Add the reconciler of a built-in kind, which needs the world."""
    assert isinstance(world.external(Notes), Notes)
    Builder(manager).build(Labeller())


async def test_builtin_kinds() -> None:
    """A built-in kind that is reconciled has a plain sample; the setup function may take the world."""
    scenario = await program_scenario(add_labeller)
    assert scenario.steps == (
        "create ConfigMap default/configmap-sample",
        'change data.key of ConfigMap default/configmap-sample from "value" to "value-2"',
        'set data.added of ConfigMap default/configmap-sample to "added", data.key back',
        "remove data.key of ConfigMap default/configmap-sample, data.added back",
        "delete ConfigMap default/configmap-sample",
        "create ConfigMap default/configmap-sample",
    )


def test_namespaces() -> None:
    """A namespace that no sample has is created before what is in it."""
    steps = default_scenario(SHOPS, samples=SAMPLES[:2]).plan
    assert [step.name for step in steps[:3]] == ["Namespace shops", "ConfigMap shops/prices", "Shop shops/shop"]
    assert [step.rests for step in steps[:3]] == [False, False, True]
    assert steps[0].manifest == {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shops"}}


def test_no_sample() -> None:
    """A built-in kind without a sample, and a program without kinds, are errors that say what to do."""
    with pytest.raises(CommandFailed, match="no sample of Lease .*; add one to config/samples"):
        default_scenario(NONE, reconciled=[GroupVersionKind("coordination.k8s.io", "v1", "Lease")])
    with pytest.raises(CommandFailed, match="reconciles no kind.*; give one"):
        default_scenario(NONE)


async def test_left_out() -> None:
    """Steps after which a program never rests can be left out."""
    scenario = await program_scenario(add_podset)
    rest = scenario.without(["change spec.size of PodSet default/podset-sample from 3 to 4"])
    assert rest.steps[:2] == (
        "create PodSet default/podset-sample",
        "change spec.size of PodSet default/podset-sample from 3 to 2",
    )
