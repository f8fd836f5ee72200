"""Clients derived from a client, on any cluster."""

from __future__ import annotations

from contextlib import aclosing

import pytest

from pyctrl.api import Key, Unstructured
from pyctrl.client import Client, MergePatch, dry_run, impersonate, in_namespace, with_field_owner
from pyctrl.kinds.authentication.v1 import SelfSubjectReview, UserInfo
from pyctrl.kinds.core.v1 import ConfigMap, Namespace
from tests.integration._objects import CONFIG_MAP, config_map, owners_of

pytestmark = pytest.mark.virtual_time  # where the cluster is embedded


async def whoami(client: Client) -> UserInfo:
    """Return the user as which the server authenticates the client."""
    return (await client.create(SelfSubjectReview())).status.user_info


async def test_in_namespace(client: Client, namespace: str) -> None:
    """Every verb uses the namespace of the client when none is given."""
    here = in_namespace(client, namespace)

    made = await here.create(config_map("", k="1"))
    assert made.key == Key(namespace, "a")
    assert await here.get(ConfigMap, Key("", "a")) == made
    assert made in list(await here.list(ConfigMap))
    assert (await here.get(CONFIG_MAP, Key("", "a"))).key == made.key
    async with aclosing(here.watch(ConfigMap, fields="metadata.name=a")) as events:
        assert (await anext(events)).object == made
    assert (await here.patch(ConfigMap, Key("", "a"), MergePatch({"data": {"k": "2"}}))).data == {"k": "2"}
    assert (await here.apply(Unstructured.new(CONFIG_MAP, name="b", data={"k": "3"}))).key == Key(namespace, "b")
    await here.delete(ConfigMap, Key("", "a"))
    await here.delete_all_of(ConfigMap, fields="metadata.name=b")
    assert [obj for obj in await here.list(ConfigMap) if obj.metadata.name in ("a", "b")] == []


async def test_in_namespace_keeps_out_of_others(client: Client, namespace: str) -> None:
    """Another namespace is rejected before any request; cluster-scoped kinds work unchanged."""
    here = in_namespace(client, namespace)

    for refused in (here.create(config_map("default")), here.get(ConfigMap, Key("default", "a"))):
        with pytest.raises(ValueError, match="was requested from a client for namespace"):
            await refused
    with pytest.raises(ValueError, match="was requested from a client for namespace"):
        await here.list(ConfigMap, namespace="default")
    assert (await here.get(Namespace, Key("", "default"))).metadata.name == "default"


async def test_dry_run(client: Client, namespace: str) -> None:
    """No write of a dry-run client is stored, whatever the verb, and reads work as usual."""
    made = await client.create(config_map(namespace, k="1"))
    trying = dry_run(client)

    await trying.create(config_map(namespace, "b"))
    await trying.update(config_map(namespace, k="2"))
    await trying.patch(made, MergePatch({"data": {"k": "3"}}))
    await trying.apply(config_map(namespace, k="4"), force=True)
    await trying.delete_all_of(ConfigMap, namespace=namespace)
    await trying.delete(made)

    assert await trying.get(ConfigMap, made.key) == made
    assert await client.find(ConfigMap, Key(namespace, "b")) is None


async def test_with_field_owner(client: Client, namespace: str) -> None:
    """Every write of the client has its field owner, whatever the verb."""
    mine = with_field_owner(client, "mine")

    await mine.create(config_map(namespace, k="1"))
    await mine.update(config_map(namespace, k="2"))
    await mine.patch(ConfigMap, Key(namespace, "a"), MergePatch({"data": {"l": "1"}}))
    found = await mine.apply(config_map(namespace, m="1"))

    assert owners_of(found) == {("mine", "Update"), ("mine", "Apply")}


async def test_impersonate(client: Client) -> None:
    """The server authenticates the derived client as the other user; the original client keeps its user."""
    other = impersonate(client, "jane", groups=("developers", "testers"))

    assert (await whoami(client)).username != "jane"
    jane = await whoami(other)
    assert jane.username == "jane"
    assert set(jane.groups) == {"developers", "testers", "system:authenticated"}


async def test_impersonate_a_service_account(client: Client, namespace: str) -> None:
    """A service account that is impersonated without groups gets its usual groups."""
    robot = await whoami(impersonate(client, f"system:serviceaccount:{namespace}:robot"))

    assert set(robot.groups) == {
        "system:serviceaccounts",
        f"system:serviceaccounts:{namespace}",
        "system:authenticated",
    }


async def test_wrappers_of_wrappers(client: Client, namespace: str) -> None:
    """Wrappers combine in any order."""
    both = dry_run(with_field_owner(in_namespace(client, namespace), "both"))

    tried = await both.create(config_map(""))

    assert tried.metadata.namespace == namespace
    assert owners_of(tried) <= {("both", "Update")}
    assert await client.find(ConfigMap, Key(namespace, "a")) is None
