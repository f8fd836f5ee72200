"""Invalid keys are refused before a request is sent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from pyctrl.api import GroupVersionKind, Key, ObjectMeta
from pyctrl.apiserver import ApiServer
from pyctrl.cache import Cache, CachedClient
from pyctrl.client import (
    Client,
    InProcessTransport,
    MergePatch,
    bind,
    create_token,
    evict,
    get_scale,
    in_namespace,
    set_scale,
    wait_for,
    wait_until_gone,
)
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import Namespace, Secret
from pyctrl.testing import FaultyTransport

Verb = Callable[[Client, Any], Awaitable[object]]

VERBS: dict[str, Verb] = {
    "get": lambda client, key: client.get(Secret, key),
    "get untyped": lambda client, key: client.get(GroupVersionKind("", "v1", "Secret"), key),
    "get of a version": lambda client, key: client.get(Secret, key, resource_version="0"),
    "find": lambda client, key: client.find(Secret, key),
    "patch": lambda client, key: client.patch(Secret, key, MergePatch({})),
    "delete": lambda client, key: client.delete(Secret, key),
    "status.get": lambda client, key: client.status.get(Namespace, key),
    "status.patch": lambda client, key: client.status.patch(Namespace, key, MergePatch({})),
    "subresource.get": lambda client, key: client.subresource("scale").get(Deployment, key),
    "subresource.create": lambda client, key: client.subresource("x").create(Secret, key, {}),
    "subresource.update": lambda client, key: client.subresource("x").update(Secret, key, {}),
    "subresource.patch": lambda client, key: client.subresource("x").patch(Secret, key, MergePatch({})),
    "subresource.apply": lambda client, key: client.subresource("x").apply(Secret, key, {}),
    "get_scale": lambda client, key: get_scale(client, Deployment, key),
    "set_scale": lambda client, key: set_scale(client, Deployment, key, 1),
    "create_token": create_token,
    "evict": evict,
    "bind": lambda client, key: bind(client, key, "node"),
    "wait_for": lambda client, key: wait_for(client, Secret, key),
    "wait_until_gone": lambda client, key: wait_until_gone(client, Secret, key),
}


def _clients() -> tuple[FaultyTransport, list[Client]]:
    """A live client, one for a namespace, and a cached one."""
    network = FaultyTransport(InProcessTransport(ApiServer()))
    live = Client(network)
    return network, [live, in_namespace(live, "default"), in_namespace(CachedClient(Cache(live), live), "default")]


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS.keys())
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "must have a name"),
        ("a/b", "cannot be a name"),
        ("..", "cannot be a name"),
        (".", "cannot be a name"),
        ("a%2fb", "cannot be a name"),
    ],
)
async def test_a_name_that_is_no_part_of_a_path_is_refused(verb: Verb, name: str, message: str) -> None:
    """An empty name, which would list, or one that changes the path is refused before sending, as in client-go."""
    network, clients = _clients()
    for client in clients:
        with pytest.raises(ValueError, match=message):
            await verb(client, Key("default", name))
    assert network.requests == []


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS.keys())
async def test_what_is_no_key_is_refused_and_the_error_says_what_to_pass(verb: Verb) -> None:
    """A string, a tuple or an object raises TypeError, which names the argument to pass."""
    network, clients = _clients()
    for client in clients:
        with pytest.raises(
            TypeError, match=r"expected a Key .*got 'a' \(str\): pass Key\(namespace, 'a'\), or Key\(''"
        ):
            await verb(client, "a")
        with pytest.raises(TypeError, match=r"got 'b/a' \(str\): pass Key\('b', 'a'\)"):
            await verb(client, "b/a")
        with pytest.raises(TypeError, match=r"got \('b', 'a'\) \(tuple\): pass Key\(namespace, name\)"):
            await verb(client, ("b", "a"))
        with pytest.raises(TypeError, match=r"got a Secret: pass its .key"):
            await verb(client, Secret(metadata=ObjectMeta.from_wire({"name": "a", "namespace": "b"})))
    assert network.requests == []


@pytest.mark.parametrize("name", ["..", "a/../b", "."])
async def test_a_sub_resource_is_no_way_to_another_path(name: str) -> None:
    """Each part of a subresource's name is checked like a name."""
    with pytest.raises(ValueError, match="cannot be a name"):
        await Client(InProcessTransport(ApiServer())).subresource(name).get(Secret, Key("default", "a"))
