"""Models and ApiClients of kubernetes_asyncio, as type checkers see them. Checked, never run.

The library has stubs since its release 34: a model class is a class, not Any.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_type

from kubernetes_asyncio.client import ApiClient, ApiException, V1ConfigMap, V1Deployment, V1Namespace, V1Pod
from kubernetes_asyncio.stream import WsApiClient

from pyctrl.api import (
    GroupVersionKind,
    Key,
    KindLike,
    Object,
    ObjectLike,
    OpenApiModel,
    OwnerReference,
    Unstructured,
    as_object,
    controller_of,
    deep_copy,
    is_openapi_model,
    kind_of,
    set_controller_reference,
)
from pyctrl.cache import CachedClient
from pyctrl.client import Client, Config, MergePatch, ObjectList, Reader, WatchEvent, Written, merge_from, wait_for
from pyctrl.controller import ObjectReconciler, Reconciler, Request, Result
from pyctrl.errors import ApiError, from_api_exception, to_api_exception
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.rbac import allow


def logins(config: Config) -> None:
    assert_type(config.api_client(), ApiClient)
    assert_type(config.ws_api_client(heartbeat=30), WsApiClient)


async def reads(client: Client, cached: CachedClient, reader: Reader, key: Key) -> None:
    assert_type(await client.get(V1Deployment, key), V1Deployment)
    assert_type(await client.find(V1Deployment, key), V1Deployment | None)
    assert_type(await client.list(V1Pod), ObjectList[V1Pod])
    assert_type(await cached.get(V1Deployment, key), V1Deployment)
    assert_type(await cached.list(V1Pod), ObjectList[V1Pod])
    assert_type(await reader.list(V1Pod), Sequence[V1Pod])
    async for event in client.watch(V1Pod):
        assert_type(event, WatchEvent[V1Pod])
    assert_type(await wait_for(client, V1Pod, key, lambda pod: bool(pod.spec)), V1Pod)


def rename(obj: V1Deployment) -> None:
    obj.metadata.labels = {}


async def writes(client: Client, obj: V1Deployment, key: Key) -> None:
    assert_type(await client.create(obj), V1Deployment)
    assert_type(await client.update(obj), V1Deployment)
    assert_type(await client.status.update(obj), V1Deployment)
    assert_type(await client.patch(obj, merge_from(obj)), V1Deployment)
    assert_type(await client.patch(V1Deployment, key, MergePatch({})), V1Deployment)
    assert_type(await client.apply(obj), V1Deployment)
    assert_type(await client.create_or_update(obj, rename), Written[V1Deployment])
    assert_type(await client.create_or_apply(obj), Written[V1Deployment])
    assert_type(await client.subresource("scale").get(obj), Unstructured)
    await client.delete(obj)
    await client.delete(V1Deployment, key)


async def pyctrl_s_own_kinds_keep_their_types(client: Client, obj: Deployment, key: Key) -> None:
    assert_type(await client.get(Deployment, key), Deployment)
    assert_type(await client.get(GroupVersionKind("", "v1", "Pod"), key), Unstructured)
    assert_type(await client.patch(obj, MergePatch({})), Deployment)
    assert_type(await client.apply({"kind": "Pod"}), Unstructured)


async def a_class_without_a_type_is_any(client: Client, kind: Any, key: Key) -> None:
    """As for a library without stubs: the result is Any, and not an error."""
    (await client.get(kind, key)).spec.template.spec.containers.append(3)
    (await client.patch(kind, key, MergePatch({}))).spec.replicas = 3


def objects(model: V1Deployment, either: ObjectLike) -> None:
    assert_type(as_object(model), Object)
    assert_type(deep_copy(model), V1Deployment)
    assert_type(set_controller_reference(model, V1ConfigMap()), bool)
    assert_type(controller_of(model), OwnerReference | None)
    assert_type(kind_of(V1Pod), GroupVersionKind)
    assert_type(Key.of(model), Key)
    if is_openapi_model(either):
        any_model: OpenApiModel = either
        any_model.to_str()


def errors(theirs: ApiException, ours: ApiError) -> None:
    assert_type(from_api_exception(theirs), ApiError)
    assert_type(to_api_exception(ours), ApiException)


class Namespaces(Reconciler[V1Namespace]):
    owns = (V1ConfigMap, V1Deployment)
    rbac = (allow(V1ConfigMap, "create"),)

    async def reconcile(self, request: Request) -> Result | None:
        assert_type(await self.client.find(V1Namespace, request.key), V1Namespace | None)
        return None


class ObjectNamespaces(ObjectReconciler[V1Namespace]):
    async def reconcile_object(self, obj: V1Namespace) -> Result | None:
        assert_type(await self.client.get(V1Namespace, Key.of(obj)), V1Namespace)
        return None


kinds: tuple[KindLike, ...] = (V1Pod, Deployment, GroupVersionKind("", "v1", "Pod"))
