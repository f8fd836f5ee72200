"""Scenarios of functions, manifests and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pyctrl.api import Key, ObjectMeta
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, InProcessTransport
from pyctrl.errors import AlreadyExists, BadRequest, CommandFailed, Invalid
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.simulation._scenarios import Delete, FunctionScenario, scenario_of
from pyctrl.testing import Answered, AnswerLost, FaultyTransport, Rule

Json = dict[str, Any]


class World:
    """Records the rests, and what there was."""

    def __init__(self, server: ApiServer) -> None:
        self._server = server
        self.rests: list[str] = []
        self.states: list[dict[str, Json]] = []

    async def settle(self, text: str = "") -> None:
        """Record a rest."""
        self.rests.append(text)
        client = Client(InProcessTransport(self._server))
        self.states.append({one.metadata.name: one.data for one in await client.list(ConfigMap, namespace="default")})


@pytest.fixture
def world(server: ApiServer) -> World:
    """A world around the server."""
    return World(server)


@pytest.fixture
def server() -> ApiServer:
    """A server."""
    return ApiServer()


@pytest.fixture
def client(server: ApiServer) -> Client:
    """A client of the server."""
    return Client(InProcessTransport(server))


def config_map(**data: str) -> Json:
    """Return a manifest."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web", "namespace": "default"}, "data": data}


async def test_manifests(client: Client, world: World) -> None:
    """Manifests create and change, pairs edit, Delete deletes; the world rests after each, with the step in words."""
    scenario = scenario_of(
        [
            ConfigMap(metadata=ObjectMeta(name="web"), data={"a": "1"}),
            {**config_map(a="2", b="x"), "metadata": {"name": "other"}},
            ("web", {"data": {"a": "2", "b": "1"}}),
            ("configmap default/web", {"data": {"b": None}}),
            {**config_map(c="3"), "metadata": {"name": "web"}},
            Delete("default/web"),
            config_map(d="4"),
        ]
    )
    await scenario.run(client, world)
    assert world.rests == [
        "create ConfigMap web",
        "create ConfigMap other",
        'change data.a of ConfigMap web from "1" to "2", set data.b of ConfigMap web to "1"',
        "remove data.b of ConfigMap web",
        'remove data.a of ConfigMap web, set data.c of ConfigMap web to "3"',
        "delete ConfigMap web",
        "create ConfigMap default/web",
    ]
    assert scenario.steps == tuple(world.rests)
    found = [state.get("web") for state in world.states]
    assert found == [{"a": "1"}, {"a": "1"}, {"a": "2", "b": "1"}, {"a": "2"}, {"c": "3"}, None, {"d": "4"}]


async def test_default_namespace(client: Client, world: World) -> None:
    """A manifest without a namespace is the same object as one in the default namespace."""
    await scenario_of([config_map() | {"metadata": {"name": "web"}}, config_map(a="1")]).run(client, world)
    assert world.states == [{"web": {}}, {"web": {"a": "1"}}]


async def test_file(client: Client, world: World, tmp_path: Path) -> None:
    """In a YAML file an object that appears again is changed, and `$patch: delete` deletes it."""
    first = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n"
    file = tmp_path / "web.yaml"
    file.write_text(f"{first}data: {{a: '1'}}\n---\n{first}data: {{a: '2'}}\n---\n{first}$patch: delete\n")
    for given in (str(file), tmp_path):
        world.states.clear()
        scenario = scenario_of(given)
        await scenario.run(client, world)
        assert world.states == [{"web": {"a": "1"}}, {"web": {"a": "2"}}, {}]
    assert scenario_of(file).name == "web.yaml"


async def test_function_of_client(client: Client, world: World) -> None:
    """After each write of a function of the client alone the world rests; not after reads, dry runs and errors."""

    async def scenario(client: Client) -> None:
        web = await client.create(ConfigMap(metadata=ObjectMeta(name="web", namespace="default")))
        await client.get(ConfigMap, web.key)
        await client.create(ConfigMap(metadata=ObjectMeta(name="dry", namespace="default")), dry_run=True)
        with pytest.raises(AlreadyExists):
            await client.create(ConfigMap(metadata=ObjectMeta(name="web", namespace="default")))
        web.data = {"a": "1"}
        await client.update(web)
        await client.delete(web)

    found = scenario_of(scenario)
    await found.run(client, world)
    assert found.name == "scenario"
    assert world.rests == [
        "create configmaps default/web",
        "update configmaps default/web",
        "delete configmaps default/web",
    ]


async def test_function_of_client_and_world(client: Client, world: World) -> None:
    """A function that takes the world says when it rests; its end is a step, too."""

    async def scenario(client: Client, world: World) -> None:
        for name in "abc":
            await client.create(ConfigMap(metadata=ObjectMeta(name=name, namespace="default")))
        await world.settle("create three")
        await client.delete(ConfigMap, Key("default", "a"))

    await scenario_of(scenario).run(client, world)
    assert world.rests == ["create three", "end of the scenario"]
    assert [len(state) for state in world.states] == [3, 2]


async def test_default_arguments() -> None:
    """A parameter with a default is not the world."""

    async def scenario(client: Client, size: int = 3) -> None: ...

    assert isinstance(scenario_of(scenario), FunctionScenario)
    assert not scenario_of(scenario).steps


async def test_lost_answers(server: ApiServer, world: World) -> None:
    """The user repeats a command that failed for now, and takes the effect of the first try for its own."""
    lost = [Rule(AnswerLost(), method) for method in ("POST", "DELETE")]
    busy = Rule(Answered(status=500, reason="InternalError"), "PATCH")
    client = Client(FaultyTransport(InProcessTransport(server), [*lost, busy]))
    await scenario_of([config_map(), ("web", {"data": {"a": "1"}}), Delete("web")]).run(client, world)
    assert world.states == [{"web": {}}, {"web": {"a": "1"}}, {}]


async def test_created_while_the_old_one_is_deleted(client: Client, world: World) -> None:
    """An object whose predecessor is still being deleted is created when that is gone; at last it is an error."""
    held = config_map() | {"metadata": {"name": "web", "namespace": "default", "finalizers": ["example.com/held"]}}
    with pytest.raises(AlreadyExists):
        await scenario_of([held, Delete("web"), held]).run(client, world)


async def test_refused(client: Client, world: World) -> None:
    """A manifest that the server refuses is an error, also an unknown field."""
    with pytest.raises(Invalid):
        await scenario_of([config_map() | {"metadata": {"name": "Web"}}]).run(client, world)
    with pytest.raises(BadRequest):
        await scenario_of([config_map() | {"dta": {}}]).run(client, world)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (3, TypeError, "expected a scenario: an async function of a client, .*; got 3"),
        (print, TypeError, "expected a scenario"),
        ([config_map(), 3], TypeError, "item 2 of the scenario: expected an object, .*; got 3"),
        ([{"kind": "ConfigMap"}], TypeError, "item 1 .*: expected apiVersion, kind and metadata.name"),
        ([("web", {})], ValueError, "item 1 .*: 'web': no manifest before it has this name. The objects so far: none"),
        ([config_map(), Delete("shop")], ValueError, "'shop': no .*. The objects so far: ConfigMap default/web"),
        (
            [config_map(), config_map() | {"kind": "Secret"}, Delete("web")],
            ValueError,
            "'web': there are several; add kind and namespace. The objects so far: ConfigMap default/web, Secret",
        ),
        ([config_map(), Delete("web"), ("web", {})], ValueError, "no manifest before it"),
        ("/nowhere.yaml", CommandFailed, "/nowhere.yaml"),
    ],
)
def test_mistakes(given: Any, error: type[Exception], message: str) -> None:
    """A mistake in a scenario is named before it runs."""
    with pytest.raises(error, match=message):
        scenario_of(given)


def test_scenario_again() -> None:
    """A scenario stays what it is, and one manifest is a list of one."""
    scenario = scenario_of(config_map())
    assert scenario_of(scenario) is scenario
    assert scenario.steps == ("create ConfigMap default/web",)
