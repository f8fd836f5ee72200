"""Code that uses kubernetes_asyncio, over pyctrl's transport, on any cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from kubernetes_asyncio import dynamic, watch
from kubernetes_asyncio.client import (
    ApiException,
    AuthenticationV1Api,
    CoreV1Api,
    CustomObjectsApi,
    V1ConfigMap,
    V1Namespace,
    V1ObjectMeta,
    V1SelfSubjectReview,
    V1ServiceAccount,
)

from examples.podset.podset import add_podset
from pyctrl.api import Key, set_controller_reference
from pyctrl.client import Client, Config, Impersonation, OperationResult, create_token, merge_from
from pyctrl.errors import Forbidden, NotFound, from_api_exception
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.testing import ClusterUnderTest, InstallKinds
from tests.integration._commands import guarded
from tests.integration._operators import podset
from tests.integration._processes import kubeconfig_for, podset_process

# --- the ApiClient --------------------------------------------------------------------------------------------------


async def test_a_program_of_the_library(cluster: ClusterUnderTest, namespace: str) -> None:
    """Writes, every type of patch, reads, a watch, custom objects and the dynamic client work as ever."""
    async with cluster.config.api_client() as api:
        core: Any = CoreV1Api(api)
        await core.create_namespaced_config_map(
            namespace, V1ConfigMap(metadata=V1ObjectMeta(name="a"), data={"k": "v"})
        )
        await core.patch_namespaced_config_map("a", namespace, {"data": {"strategic": "1"}})
        await core.patch_namespaced_config_map("a", namespace, [{"op": "add", "path": "/data/json", "value": "1"}])
        merge = {"_content_type": "application/merge-patch+json"}
        await core.patch_namespaced_config_map("a", namespace, {"data": {"k": None}}, **merge)
        applied = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"applied": "1"}}
        apply = {"field_manager": "me", "_content_type": "application/apply-patch+yaml"}
        await core.patch_namespaced_config_map("a", namespace, applied, **apply)
        found = await core.read_namespaced_config_map("a", namespace)
        assert found.data == {"strategic": "1", "json": "1", "applied": "1"}

        seen = []
        async with watch.Watch() as stream:
            options = {"field_selector": "metadata.name=a", "timeout_seconds": 20}
            async for event in stream.stream(core.list_namespaced_config_map, namespace, **options):
                seen.append((event["type"], type(event["object"])))
                if len(seen) == 2:
                    break
                await core.delete_namespaced_config_map("a", namespace)
        assert seen == [("ADDED", V1ConfigMap), ("DELETED", V1ConfigMap)]

        with pytest.raises(ApiException) as raised:
            await core.read_namespaced_config_map("a", namespace)
        assert isinstance(from_api_exception(raised.value), NotFound)

        custom: Any = CustomObjectsApi(api)
        assert (await custom.list_namespaced_custom_object("apps", "v1", namespace, "deployments"))["items"] == []
        resource = await (await dynamic.DynamicClient(api)).resources.get(api_version="v1", kind="ConfigMap")
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}}
        assert (await resource.create(body, namespace=namespace)).metadata.name == "b"


async def user_of(api: Any) -> str:
    """Return the user as whom the server knows the ApiClient."""
    review: Any = await AuthenticationV1Api(api).create_self_subject_review(V1SelfSubjectReview())
    return str(review.status.user_info.username)


class Expiring:
    """Credentials whose token the test lets expire; a renewal creates one."""

    def __init__(self, create: Callable[[], Any]) -> None:
        self.token, self.renewals = "expired", 0
        self._create = create

    async def authorization(self) -> str:
        return f"Bearer {self.token}"

    async def refresh(self, rejected: str | None = None) -> bool:
        self.renewals += 1
        self.token = (await self._create()).token
        return True


@pytest.mark.real_time
async def test_a_token_is_renewed_while_an_api_client_is_in_use(cluster: ClusterUnderTest) -> None:
    """Each time that the server rejects the token, it is renewed, and the program's calls do not notice it."""
    async with guarded(cluster) as admin, Client.connect(admin) as client:
        made = await client.create(V1Namespace(metadata=V1ObjectMeta(generate_name="login-")))
        account = Key(made.metadata.name, "robot")
        await client.create(V1ServiceAccount(metadata=V1ObjectMeta(name=account.name, namespace=account.namespace)))
        credentials = Expiring(lambda: create_token(client, account))
        try:
            login = replace(admin, credentials=credentials, tls=replace(admin.tls, certificate=None))
            async with login.api_client() as api:
                assert await user_of(api) == f"system:serviceaccount:{account.namespace}:robot"
                assert await user_of(api) == f"system:serviceaccount:{account.namespace}:robot"
                assert credentials.renewals == 1
                credentials.token = "expired again"
                users = await asyncio.gather(user_of(api), user_of(api))
                assert len(set(users)) == 1
                credentials.token = "expired before a stream"
                answer: Any = await api.call_api("/version", "GET", _preload_content=False)
                assert "gitVersion" in await answer.json()
                assert credentials.renewals >= 3
        finally:
            await client.delete(made)


@pytest.mark.real_time
async def test_an_impersonated_user(cluster: ClusterUnderTest) -> None:
    """The server sees the user whom the Config impersonates, and the library's exception names what he may not do."""
    async with guarded(cluster) as admin:
        jane: Config = replace(admin, impersonate=Impersonation(user="jane"))
        async with jane.api_client() as api:
            assert await user_of(api) == "jane"
            with pytest.raises(ApiException) as raised:
                await CoreV1Api(api).list_namespaced_secret("kube-system")
    error = from_api_exception(raised.value)
    assert isinstance(error, Forbidden)
    assert (error.user, error.verb, error.resource) == ("jane", "list", "secrets")


# --- models ---------------------------------------------------------------------------------------------------------


async def test_models_in_the_client(client: Client, namespace: str) -> None:
    """Models are created, read, patched, applied and owned as pyctrl's own classes are."""
    key = Key(namespace, "a")
    made = await client.create(V1ConfigMap(metadata=V1ObjectMeta(name="a", namespace=namespace), data={"k": "v"}))
    before = merge_from(made)
    made.data["l"] = "w"
    patched = await client.patch(made, before)
    assert type(patched) is V1ConfigMap
    assert (await client.get(ConfigMap, key)).data == {"k": "v", "l": "w"}

    owned = V1ConfigMap(metadata=V1ObjectMeta(name="owned", namespace=namespace), data={"k": "v"})
    set_controller_reference(patched, owned)
    results = [(await client.create_or_apply(owned)).result for _ in range(2)]
    assert results == [OperationResult.CREATED, OperationResult.NONE]
    found = await client.get(V1ConfigMap, Key(namespace, "owned"))
    assert found.metadata.owner_references[0].uid == patched.metadata.uid
    assert {obj.metadata.name for obj in await client.list(V1ConfigMap, namespace=namespace)} >= {"a", "owned"}
    await client.delete(patched)


# --- imports --------------------------------------------------------------------------------------------------------


@pytest.mark.real_time
@pytest.mark.slow("starts a process, which imports for a second")
async def test_an_operator_that_does_not_use_the_library_never_imports_it(
    cluster: ClusterUnderTest,
    client: Client,
    namespace: str,
    install_kinds: InstallKinds,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The PodSet operator reconciles without an import of kubernetes_asyncio, which is installed with pyctrl."""
    await install_kinds(add_podset)
    await client.create(podset(namespace, 1))
    monkeypatch.setenv("PYTHONPROFILEIMPORTTIME", "1")
    async with kubeconfig_for(cluster, tmp_path) as kubeconfig, podset_process(kubeconfig) as operator:
        await operator.has_reconciled(namespace, "web")
        imported = {line.rpartition("|")[2].strip() for line in operator.log if line.startswith("import time:")}
    assert "pyctrl.manager" in imported
    assert not [name for name in imported if "kubernetes_asyncio" in name or name == "pyctrl.api._openapi_conversion"]
