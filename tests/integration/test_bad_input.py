"""User mistakes: each results in one clear error that says what to do."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import Coroutine
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from pyctrl.api import GroupVersionKind, Key, KubernetesObject, ObjectMeta, Scheme
from pyctrl.cache import KindOptions, Selector
from pyctrl.client import Client, Config, MergePatch, wait_for
from pyctrl.cluster import Cluster
from pyctrl.controller import Builder, Reconciler, Request, Result, labels_match
from pyctrl.errors import (
    BuilderError,
    ConnectionFailed,
    DuplicateName,
    NotRegistered,
    NotSynced,
    PyctrlError,
    SelectorError,
    UnknownKind,
)
from pyctrl.kinds.core.v1 import ConfigMap, Pod
from pyctrl.manager import Manager
from pyctrl.testing import ClusterUnderTest
from tests.integration._objects import config_map
from tests.integration._operators import has_nodes, install, podset
from tests.integration._processes import REPOSITORY, podset_process

NOWHERE = [
    pytest.param("http://127.0.0.1:1", "127.0.0.1:1: Connection refused", id="refused"),
    pytest.param("https://no-such-host.invalid:6443", "no-such-host.invalid:6443", id="host"),
]


class Nothing(Reconciler[Any]):
    """A reconciler that does nothing."""

    async def reconcile(self, request: Request) -> Result | None:
        return None


# --- a reconciler that returns an invalid result --------------------------------------------------------------------


@pytest.mark.parametrize("nonsense", [42, True, "done", timedelta(seconds=1), {"requeue_after": 1}, Result], ids=repr)
@pytest.mark.virtual_time
async def test_a_reconciler_that_returns_nonsense(
    cluster: ClusterUnderTest, client: Client, namespace: str, caplog: pytest.LogCaptureFixture, nonsense: object
) -> None:
    """An invalid result is reported once, with its value and the expected types; other work continues."""

    class Nonsense(Reconciler[ConfigMap]):
        async def reconcile(self, request: Request) -> Result | None:
            if request.name == "good":
                await client.patch(ConfigMap, request.key, MergePatch({"data": {"done": "yes"}}))
                return None
            return nonsense if request.name == "bad" else None  # type: ignore[return-value]

    async with Manager(cluster.config, namespaces=[namespace]) as manager:
        controller = Builder(manager).reconciles(ConfigMap).build(Nonsense())
        async with manager.running():
            await client.create(config_map(namespace, "bad"))
            good = await client.create(config_map(namespace, "good"))
            await wait_for(client, ConfigMap, good.key, lambda found: "done" in found.data)

    (error,) = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert (
        f"the reconciler of controller 'configmap' returned {nonsense!r}; "
        "return None when done, or Result(requeue_after=timedelta(...)) to run again"
    ) in error.getMessage()
    assert controller.statistics().reconciles.terminal_error == 1


@pytest.mark.virtual_time
async def test_a_reconciler_that_is_not_async(
    cluster: ClusterUnderTest, client: Client, namespace: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A sync method is rejected when the controller is built; a false claim to be async when it runs."""
    was_called = asyncio.Event()

    class Plain(Reconciler[ConfigMap]):
        def reconcile(self, request: Request) -> None:  # type: ignore[override]
            raise AssertionError("it was called")

    class Forgotten(Reconciler[ConfigMap]):
        def reconcile(self, request: Request) -> Coroutine[Any, Any, None]:
            was_called.set()
            return None  # type: ignore[return-value]

    async with Manager(cluster.config, namespaces=[namespace]) as manager:
        with pytest.raises(BuilderError, match=r"reconcile of Plain must be async def .*\n  --> .*test_bad_input\.py:"):
            Builder(manager).reconciles(ConfigMap).build(Plain())
        Builder(manager).reconciles(ConfigMap).build(Forgotten())
        async with manager.running():
            await client.create(config_map(namespace))
            await was_called.wait()

    errors = {record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR}
    assert len(errors) == 1
    assert "returned None without being `async def`" in errors.pop()


# --- a kind that is not registered ----------------------------------------------------------------------------------


@pytest.mark.virtual_time
async def test_a_kind_that_is_not_registered(cluster: ClusterUnderTest, client: Client) -> None:
    """An unnamed class, a string or an unregistered kind raises an error that says what to pass instead."""

    class Plain(KubernetesObject):
        """A class without group and version."""

    with pytest.raises(NotRegistered, match=r"v1, Kind=Pod is not registered; add its class to the Scheme"):
        Scheme().require(GroupVersionKind("", "v1", "Pod"))
    no_kinds: list[Any] = [Plain, "Pod", Pod(metadata=ObjectMeta(name="a"))]
    for kind in no_kinds:
        with pytest.raises(NotRegistered, match="use its GroupVersionKind to get it untyped"):
            await client.get(kind, Key("default", "a"))
    async with Manager(cluster.config) as manager:
        for kind in no_kinds[:2]:
            with pytest.raises(BuilderError, match=r"reconciles\(\) takes a kind: a class with group= and version="):
                Builder(manager).reconciles(kind)


@pytest.mark.virtual_time
async def test_a_controller_that_cannot_work(cluster: ClusterUnderTest) -> None:
    """Missing or duplicate parts of a controller are reported when it is built, before anything runs."""
    async with Manager(cluster.config) as manager:
        with pytest.raises(BuilderError, match="an instance of a Reconciler"):
            Builder(manager).reconciles(Pod).build(Nothing)  # type: ignore[arg-type]
        with pytest.raises(BuilderError, match="watches nothing"):
            Builder(manager).options(name="idle").build(Nothing())
        with pytest.raises(BuilderError, match="at least one worker"):
            Builder(manager).reconciles(Pod).options(workers=0)
        Builder(manager).reconciles(Pod).build(Nothing())
        with pytest.raises(DuplicateName, match=r"'pod' already exists.*options\(name=...\)"):
            Builder(manager).reconciles(Pod).build(Nothing())


# --- a selector that does not parse ---------------------------------------------------------------------------------


@pytest.mark.virtual_time
async def test_a_selector_that_does_not_parse(cluster: ClusterUnderTest, client: Client, namespace: str) -> None:
    """A malformed selector raises SelectorError with its text at once, wherever it is passed."""
    wrong = "tier in web"
    with pytest.raises(SelectorError, match=wrong):
        await client.list(ConfigMap, labels=wrong)
    with pytest.raises(SelectorError, match=wrong):
        await anext(client.watch(ConfigMap, labels=wrong))
    with pytest.raises(SelectorError, match=wrong):
        await client.delete_all_of(ConfigMap, namespace=namespace, labels=wrong)
    with pytest.raises(SelectorError, match=wrong):
        labels_match(wrong)
    async with Manager(cluster.config, namespaces=[namespace]) as manager:
        Builder(manager).reconciles(ConfigMap).build(Nothing())
        async with manager.running():
            with pytest.raises(SelectorError, match=wrong):
                await manager.client.list(ConfigMap, namespace=namespace, labels=wrong)


@pytest.mark.virtual_time
async def test_an_option_with_a_selector_that_does_not_parse(cluster: ClusterUnderTest) -> None:
    """A manager with a malformed selector for its cache does not start."""
    options = KindOptions(selectors=[Selector(labels="tier in web")])
    with pytest.raises(SelectorError, match="tier in web"):
        async with Manager(cluster.config, kinds={ConfigMap: options}) as manager:
            Builder(manager).reconciles(ConfigMap).build(Nothing())
            async with asyncio.timeout(10):
                await manager.run(handle_signals=False)


# --- an unreachable cluster -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("server", "told"), NOWHERE)
@pytest.mark.slow("a client tries a connection four times")
async def test_a_client_of_a_cluster_that_is_not_there(server: str, told: str) -> None:
    """An unreachable cluster raises ConnectionFailed, which names the address and asks whether it is right."""
    async with Client.connect(Config(server=server)) as client:
        with pytest.raises(ConnectionFailed, match=f"{told}.*is the cluster running"):
            await client.get(Pod, Key("default", "a"))


@pytest.mark.parametrize(("server", "told"), NOWHERE)
@pytest.mark.slow("it is given time to try more than once")
async def test_a_manager_of_a_cluster_that_is_not_there(
    server: str, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A manager logs an unreachable cluster while it retries, and ends with the same message at its timeout."""
    limit = timedelta(seconds=2)
    async with Manager(Config(server=server), cache_sync_timeout=limit) as manager:
        Builder(manager).reconciles(Pod).build(Nothing())
        with pytest.raises(PyctrlError, match=told) as caught:
            await manager.run(handle_signals=False)

    assert isinstance(caught.value, NotSynced)
    loud = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert any(told in text for text in loud), caplog.text


# --- a definition that is not installed -----------------------------------------------------------------------------


@pytest.mark.virtual_time
async def test_a_definition_that_is_not_installed(client: Client) -> None:
    """The error for an unserved kind asks whether its definition is installed; it is not "not found"."""
    kind = GroupVersionKind("nobody.pyctrl.test", "v1", "Ghost")
    with pytest.raises(UnknownKind, match="Kind=Ghost; is its definition installed"):
        await client.find(kind, Key("default", "a"))


@pytest.mark.slow("starts a process, whose cache waits before it tries again")
@pytest.mark.timeout(90)
async def test_an_operator_without_its_definition(tmp_path: Path) -> None:
    """The operator names the missing definition, without a traceback, and works once it is installed."""
    kubeconfig = tmp_path / "kubeconfig"
    # a cluster of its own: on a shared one the test must not delete the definition
    async with Cluster() as cluster, cluster.serve() as config, cluster.client() as client:
        kubeconfig.write_text(config.to_kubeconfig())
        async with podset_process(kubeconfig) as operator:
            line = await operator.says("WARNING")
            assert "does not serve apps.jicki.cn/v1alpha1, Kind=PodSet; is its definition installed?" in line
            await install(client)
            made = await client.create(podset("default", 1))
            await has_nodes(client, made.key, 1, timeout=60)
            assert await operator.end(signal.SIGTERM) == 0
        assert not [line for line in operator.log if "Traceback" in line or " ERROR " in line]


# --- the command line -----------------------------------------------------------------------------------------------


async def operate(*arguments: str | Path) -> tuple[int | None, str]:
    """Run the operator until it ends; return its exit code and its output."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "examples.podset", *arguments), cwd=REPOSITORY, stderr=asyncio.subprocess.PIPE
    )
    _, said = await process.communicate()
    return process.returncode, said.decode()


KUBECONFIG = """
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
"""


@pytest.mark.parametrize(
    ("content", "arguments", "told"),
    [
        pytest.param(None, (), "no such file", id="missing"),
        pytest.param("clusters: [", (), "is not YAML", id="broken"),
        pytest.param("[]", (), "kubeconfig", id="another document"),
        pytest.param(KUBECONFIG, ("--context", "y"), "'y'", id="context"),
        pytest.param(KUBECONFIG.replace("user: u}", "user: v}"), (), "'v'", id="user"),
    ],
)
@pytest.mark.slow("starts a process, which imports for a second")
async def test_a_kubeconfig_that_cannot_be_used(
    tmp_path: Path, content: str | None, arguments: tuple[str, ...], told: str
) -> None:
    """An unusable kubeconfig ends the operator with exit code 1 and one sentence that names the file."""
    kubeconfig = tmp_path / "kubeconfig"
    if content is not None:
        kubeconfig.write_text(content)

    code, said = await operate("--kubeconfig", kubeconfig, *arguments)

    assert code == 1
    assert said.startswith("podset-operator: ")
    assert len(said.splitlines()) == 1, said
    assert told in said
    assert str(kubeconfig) in said
