"""Typed webhooks over HTTPS, called by any API server on this machine."""

from __future__ import annotations

import asyncio
import shutil
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from pyctrl.api import CustomResource, GroupVersionKind, Int32, Key, Model, ObjectMeta, Unstructured
from pyctrl.client import Client
from pyctrl.errors import ApiError, Denied, Forbidden, Invalid, Rejected
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import Manager
from pyctrl.testing import ClusterUnderTest
from pyctrl.testing._cluster.control_plane import write_serving_certificate
from pyctrl.webhook import (
    AdmissionRequest,
    Conversion,
    Defaulter,
    FieldError,
    ManagedCertificates,
    Spoke,
    Url,
    Validator,
    Warnings,
    WebhookBuilder,
    Webhooks,
    WebhookServer,
    configurations,
    conversion_stanza,
)
from tests.integration._definitions import answers
from tests.integration._operators import established

pytestmark = pytest.mark.slow("a real API server sees a new configuration after a while")


class Guard(Defaulter[ConfigMap], Validator[ConfigMap]):
    """Counts words, and rejects or warns about some of the data."""

    def default(self, obj: ConfigMap, request: AdmissionRequest) -> None:
        obj.metadata.labels["words"] = str(sum(len(text.split()) for text in obj.data.values()))

    def validate_create(self, obj: ConfigMap, request: AdmissionRequest) -> Warnings:
        if "bug" in obj.data:
            raise LookupError("a bug")
        if "secret" in obj.data:
            raise Rejected(FieldError.forbidden("data.secret", "belongs into a Secret"))
        return "words are out of fashion" if "text" in obj.data else None

    def validate_update(self, old: ConfigMap, new: ConfigMap, request: AdmissionRequest) -> None:
        if old.data.get("sealed") and old.data != new.data:
            raise Rejected(FieldError.invalid("data", sorted(new.data), "is sealed"))

    def validate_delete(self, obj: ConfigMap, request: AdmissionRequest) -> None:
        if "keep" in obj.data:
            raise Denied("it is to be kept")


class Served:
    """A running webhook server, and the data that an API server needs to call it."""

    def __init__(self, webhooks: Webhooks, port: int, authority: bytes) -> None:
        self.webhooks = webhooks
        self.target = Url(f"https://127.0.0.1:{port}")
        self.authority = authority


@pytest_asyncio.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    """A webhook server on a free port, with a certificate from its own authority."""

    def prepare() -> bytes:
        write_serving_certificate(tmp_path)
        shutil.copy(tmp_path / "serving.crt", tmp_path / "tls.crt")
        shutil.copy(tmp_path / "serving.key", tmp_path / "tls.key")
        return (tmp_path / "ca.crt").read_bytes()

    authority = await asyncio.to_thread(prepare)
    webhooks = Webhooks()
    server = WebhookServer(webhooks, certificates=tmp_path, host="127.0.0.1", port=0)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(server.run())
        await server.wait_until_ready()
        yield Served(webhooks, server.port, authority)
        running.cancel()


@asynccontextmanager
async def guarded(client: Client, served: Served, namespace: str) -> AsyncIterator[None]:
    """Register a guard for the ConfigMaps of a namespace."""
    selector = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    WebhookBuilder(served.webhooks).admits(ConfigMap).options(namespace_selector=selector).build(Guard())
    async with registered(client, served, namespace):
        await _until_guarded(client, namespace)
        yield


@asynccontextmanager
async def registered(client: Client, served: Served, namespace: str) -> AsyncIterator[None]:
    """Register the webhooks; a cluster-wide configuration must not remain."""
    wanted = configurations(
        served.webhooks, name=f"guard-{namespace}", target=served.target, ca_bundle=served.authority
    )
    made = [await client.create(Unstructured(each)) for each in wanted]
    try:
        yield
    finally:
        for each in made:
            await client.delete(each)


async def _until_guarded(client: Client, namespace: str) -> None:
    """Wait until the server calls both webhooks, which takes a real one a while."""
    refused = 0
    for _ in range(200):
        try:
            made = await client.create(config_map(namespace, "probe", secret="x"), dry_run=True)
            refused, labelled = 0, made.metadata.labels
        except Invalid:
            refused += 1
            labelled = (await client.create(config_map(namespace, "probe"), dry_run=True)).metadata.labels
        if refused >= 3 and labelled:
            return
        await asyncio.sleep(0.1)
    raise AssertionError("the webhooks were not asked")


def config_map(namespace: str, name: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace=namespace), data=data)


async def test_typed_webhooks_complete_and_refuse(
    client: Client, cluster: ClusterUnderTest, namespace: str, served: Served
) -> None:
    """Objects get defaults, users get warnings, and a rejection has the webhook's name, code and causes."""
    heard: list[str] = []
    async with (
        guarded(client, served, namespace),
        Client.connect(cluster.config, on_warning=lambda warning: heard.append(warning.text)) as client,
    ):
        made = await client.create(config_map(namespace, "a", text="two words", sealed="yes", keep="yes"))
        assert heard == ["words are out of fashion"]
        assert made.metadata.labels == {"words": "4"}
        with pytest.raises(Invalid) as caught:
            await client.create(config_map(namespace, "b", secret="x"))
        made.data["more"] = "x"
        with pytest.raises(Invalid, match=r'data: Invalid value: \["keep", "more", "sealed", "text"\]: is sealed'):
            await client.update(made)
        with pytest.raises(Forbidden, match="denied the request: it is to be kept"):
            await client.delete(made)
        with pytest.raises(ApiError, match="the webhook failed: LookupError: a bug; its log has more") as bug:
            await client.create(config_map(namespace, "c", bug="x"))

    assert caught.value.message == (
        'admission webhook "validate.configmap.v1.core" denied the request: '
        'ConfigMap "b" is invalid: data.secret: Forbidden: belongs into a Secret'
    )
    assert [(cause.reason, cause.field) for cause in caught.value.causes] == [("FieldValueForbidden", "data.secret")]
    assert bug.value.code == 500


def _mount(directory: Path, number: int, *, is_new: bool) -> bytes:
    """Mount a certificate like a Secret, by the kubelet's symlink swap; return its authority."""
    content = directory / f"..{number}"
    content.mkdir()
    write_serving_certificate(content)
    (content / "serving.crt").rename(content / "tls.crt")
    (content / "serving.key").rename(content / "tls.key")
    (directory / "..new").symlink_to(content.name)
    (directory / "..new").rename(directory / "..data")
    for name in ("tls.crt", "tls.key") if is_new else ():
        (directory / name).symlink_to(f"..data/{name}")
    return (content / "ca.crt").read_bytes()


async def test_a_mounted_certificate_is_followed(client: Client, namespace: str, tmp_path: Path) -> None:
    """After the kubelet swaps the symlink, an API server that trusts only the new certificate gets answers."""
    before = await asyncio.to_thread(_mount, tmp_path, 1, is_new=True)
    webhooks = Webhooks()
    server = WebhookServer(webhooks, certificates=tmp_path, host="127.0.0.1", port=0, poll_seconds=0.05)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(server.run())
        await server.wait_until_ready()
        async with guarded(client, Served(webhooks, server.port, before), namespace):
            after = await asyncio.to_thread(_mount, tmp_path, 2, is_new=False)
        await _until_shown(server.port, after)
        async with registered(client, Served(webhooks, server.port, after), namespace):
            await _until_guarded(client, namespace)
        running.cancel()


async def _until_shown(port: int, authority: bytes) -> None:
    """Wait until a handshake presents a certificate of this authority."""
    context = ssl.create_default_context(cadata=authority.decode())
    for _ in range(200):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
        except ssl.SSLError:
            await asyncio.sleep(0.05)
            continue
        writer.close()
        await writer.wait_closed()
        return
    raise AssertionError("the new certificate is not shown")


class OldSpec(Model):
    replicas: Int32 = 0


class NewSpec(Model):
    size: Int32 = 0


class OldestSpec(Model):
    count: str = "0"


Kind = type[CustomResource[Any]]


def kinds_of(group: str) -> tuple[Kind, Kind, Kind]:
    """Return the versions of a kind in the test's group."""

    class Oldest(CustomResource[OldestSpec], group=group, version="v1alpha1", kind="Widget"):
        """What users had."""

    class Old(CustomResource[OldSpec], group=group, version="v1", kind="Widget"):
        """What users have."""

    class New(CustomResource[NewSpec], group=group, version="v2", kind="Widget"):
        """What is stored."""

    return Oldest, Old, New


def conversion_of(oldest: Kind, old: Kind, new: Kind) -> Conversion[CustomResource[Any]]:
    """Return a conversion of each old version to and from the new one."""
    return Conversion(
        new,
        Spoke(
            old,
            to_hub=lambda one: new(spec=NewSpec(size=one.spec.replicas)),
            from_hub=lambda one: old(spec=OldSpec(replicas=one.spec.size)),
        ),
        Spoke(
            oldest,
            to_hub=lambda one: new(spec=NewSpec(size=int(one.spec.count))),
            from_hub=lambda one: oldest(spec=OldestSpec(count=str(one.spec.size))),
        ),
    )


VERSIONS = ("v1alpha1", "v1", "v2")


def definition(group: str, served: Served) -> Unstructured:
    """Define the versions, with conversion by the webhook."""
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    versions = [{"name": name, "served": True, "storage": name == "v2", "schema": schema} for name in VERSIONS]
    names = {"kind": "Widget", "listKind": "WidgetList", "plural": "widgets", "singular": "widget"}
    conversion = conversion_stanza(served.target, ca_bundle=served.authority)
    spec = {"group": group, "scope": "Namespaced", "names": names, "versions": versions, "conversion": conversion}
    kind = GroupVersionKind("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
    return Unstructured.new(kind, name=f"widgets.{group}", spec=spec)


async def test_versions_are_converted_by_typed_functions(client: Client, namespace: str, served: Served) -> None:
    """An object in an old version is stored in the new one and readable in each, with its labels and name."""
    group = f"{namespace}.pyctrl.test"
    oldest_kind, old_kind, new_kind = kinds_of(group)
    served.webhooks.add_conversion(conversion_of(oldest_kind, old_kind, new_kind))
    made = await client.create(definition(group, served))
    try:
        await established(client, made.metadata.name)
        for version in VERSIONS:
            await answers(client, f"/apis/{group}/{version}/widgets", 200)
        metadata = ObjectMeta(name="a", namespace=namespace, labels={"team": "x"})
        await client.create(old_kind(metadata=metadata, spec=OldSpec(replicas=3)))
        new = await client.get(new_kind, Key(namespace, "a"))
        listed = await client.list(oldest_kind, namespace=namespace)
    finally:
        await client.delete(made)

    assert (new.spec.size, new.metadata.labels) == (3, {"team": "x"})
    assert [each.spec.count for each in listed] == ["3"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def test_certificates_that_nobody_brought(client: Client, cluster: ClusterUnderTest, namespace: str) -> None:
    """A manager creates certificates, makes the API server trust them, and serves, without further setup."""
    webhooks, port = Webhooks(), free_port()
    selector = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    WebhookBuilder(webhooks).admits(ConfigMap).options(namespace_selector=selector).build(Guard())
    group, served = f"{namespace}.pyctrl.test", Served(webhooks, port, b"")
    oldest_kind, old_kind, new_kind = kinds_of(group)
    webhooks.add_conversion(conversion_of(oldest_kind, old_kind, new_kind))
    name, target = f"managed-{namespace}", served.target
    wanted = [*map(Unstructured, configurations(webhooks, name=name, target=target)), definition(group, served)]
    made = [await client.create(each) for each in wanted]
    try:
        async with Manager(cluster.config) as manager:
            certificates = ManagedCertificates(
                manager.live_client,
                secret=Key(namespace, "certificate"),
                target=target,
                configurations=[name],
                definitions=[f"widgets.{group}"],
            )
            manager.add(certificates)
            manager.add(certificates.rotation)
            manager.add(WebhookServer(webhooks, certificates=certificates, host="127.0.0.1", port=port))
            async with manager.running():
                await _until_guarded(client, namespace)
                assert manager.not_ready == {}
                await _until_made(client, old_kind(metadata=ObjectMeta(name="a", namespace=namespace), spec=OldSpec()))
                assert (await client.get(new_kind, Key(namespace, "a"))).metadata.name == "a"
    finally:
        for each in made:
            await client.delete(await client.get(each.gvk, each.key))


async def _until_made(client: Client, obj: CustomResource[Any]) -> None:
    """Create an object that needs conversion, once a real server has seen the definition and its caBundle."""
    for _ in range(100):
        try:
            await client.create(obj)
        except ApiError:
            await asyncio.sleep(0.1)
        else:
            return
    raise AssertionError("nothing was converted")
