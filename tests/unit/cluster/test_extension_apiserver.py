"""Kinds of an extension API server in a cluster: its controllers and clients treat them like all others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

import pytest

from pyctrl.api import GroupVersionKind, Key, ObjectMeta, OwnerReference, is_deleting
from pyctrl.apiserver import ProxyRequest, Response, ServiceUnreachable, User
from pyctrl.cache import Cache, Synced
from pyctrl.client import Client, wait_until_gone
from pyctrl.cluster import Cluster
from pyctrl.errors import AlreadyExists, Forbidden, ServiceUnavailable
from pyctrl.extension_apiserver import APIResource, ExtensionAPIServer, in_process_host
from pyctrl.kinds.core.v1 import ConfigMap, Namespace
from tests.unit.extension_apiserver._flavors import GROUP, DictStorage, Fischer, FischerSpec, Flavor

SERVICE = Key("default", "wardle")


@asynccontextmanager
async def extended(*, controllers: bool = False, rbac: bool = False) -> AsyncIterator[tuple[Cluster, Client]]:
    """Run a cluster with the kinds, one of them in a storage of its own; yield it with an administrator's client."""
    async with (
        Cluster(controllers=controllers, kubelet=False, rbac=rbac, random=Random(1)) as cluster,
        cluster.client() as client,
    ):
        server = ExtensionAPIServer(Fischer, APIResource(Flavor, DictStorage()), client=client, random=Random(2))
        await cluster.add_extension_apiserver(server, service=SERVICE)
        yield cluster, client


def fischer(name: str, namespace: str = "default") -> Fischer:
    """Return an object that the extension API server stores."""
    return Fischer(metadata=ObjectMeta(name=name, namespace=namespace), spec=FischerSpec(replicas=2))


async def _down(request: ProxyRequest) -> Response:
    raise ServiceUnreachable("EOF")


async def test_a_client_does_everything_with_the_kinds() -> None:
    """Objects are created, changed, listed and deleted through the API server of the cluster."""
    async with extended() as (_, client):
        made = await client.create(fischer("bobby"))
        with pytest.raises(AlreadyExists):
            await client.create(fischer("bobby"))
        made.spec.replicas = 3
        await client.update(made)
        assert [each.spec.replicas for each in await client.list(Fischer)] == [3]
        await client.delete(made)
        assert list(await client.list(Fischer)) == []
        await client.apply(Flavor(metadata=ObjectMeta(name="vanilla", namespace="default"), sweetness=7))
        assert (await client.get(Flavor, Key("default", "vanilla"))).sweetness == 7


async def test_discovery_has_the_kinds() -> None:
    """A client finds the resource of a kind that it has no class for."""
    async with extended() as (_, client):
        mapping = await client.discovery.mapping(GroupVersionKind(GROUP, "v1", "Fischer"))
        assert (mapping.plural, mapping.namespaced) == ("fischers", True)


async def test_a_cache_follows_them() -> None:
    """A watch passes through the API server of the cluster."""
    async with extended() as (_, client), asyncio.TaskGroup() as group:
        cache = Cache(client)
        await client.create(fischer("first"))
        informer = cache.informer(Fischer)
        running = group.create_task(cache.run())
        names = []
        with informer.subscribe() as changes:
            async for change in changes:
                if isinstance(change, Synced):
                    await client.create(fischer("second"))
                else:
                    names.append(change.key.name)
                if len(names) == 2:
                    break
        assert names == ["first", "second"]
        running.cancel()


async def test_a_namespace_is_deleted_with_its_objects() -> None:
    """The namespace controller finds kinds of extension API servers by discovery."""
    async with extended(controllers=True) as (_, client):
        space = await client.create(Namespace(metadata=ObjectMeta(name="lake")))
        await client.create(fischer("bobby", "lake"))
        await client.delete(space)
        await wait_until_gone(client, Namespace, Key("", "lake"), timeout=120)
        assert list(await client.list(Fischer)) == []


async def test_dependents_are_collected() -> None:
    """The garbage collector deletes an object of an extension API server with its owner, and the other way round."""
    async with extended(controllers=True) as (_, client):
        owner = await client.create(ConfigMap(metadata=ObjectMeta(name="owner", namespace="default")))
        mine = fischer("mine")
        reference = OwnerReference(api_version="v1", kind="ConfigMap", name="owner", uid=owner.metadata.uid)
        mine.metadata.owner_references = [reference]
        made = await client.create(mine)
        theirs = ConfigMap(metadata=ObjectMeta(name="theirs", namespace="default"))
        reference = OwnerReference(api_version=f"{GROUP}/v1", kind="Fischer", name="mine", uid=made.metadata.uid)
        theirs.metadata.owner_references = [reference]
        await client.create(theirs)
        await client.delete(owner)
        await wait_until_gone(client, Fischer, Key("default", "mine"))
        await wait_until_gone(client, ConfigMap, Key("default", "theirs"))


async def test_users_have_the_roles_of_the_cluster() -> None:
    """A user without a role gets 403."""
    async with extended(rbac=True) as (cluster, _), Client.connect(cluster.config_for(User(name="jane"))) as jane:
        with pytest.raises(Forbidden, match='User "jane" cannot list resource "fischers"'):
            await jane.list(Fischer)


async def test_without_its_server_a_kind_is_unavailable() -> None:
    """Other kinds are served, and a namespace waits for the server before it is gone."""
    async with extended(controllers=True) as (cluster, client):
        host = in_process_host(SERVICE)
        server = cluster.server.service_transports[host]
        cluster.server.service_transports[host] = _down
        with pytest.raises(ServiceUnavailable):
            await client.list(Fischer)
        await asyncio.sleep(31)  # the next check of the server
        space = await client.create(Namespace(metadata=ObjectMeta(name="lake")))
        await client.delete(space)
        await asyncio.sleep(60)
        waiting = await client.get(Namespace, Key("", "lake"))
        assert is_deleting(waiting)
        failed = [each.type for each in waiting.status.conditions if each.status == "True"]
        assert failed == ["NamespaceDeletionDiscoveryFailure"]
        cluster.server.service_transports[host] = server
        await wait_until_gone(client, Namespace, Key("", "lake"), timeout=120)
