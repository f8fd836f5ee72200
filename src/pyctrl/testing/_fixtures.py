"""Fixtures of the pytest plugin. pytest-asyncio declares the async ones, so they work in both its modes.

pytest imports this module in every project that has pyctrl installed, so clients and clusters are imported on use.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from functools import partial
from importlib import import_module
from random import Random
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from pyctrl.testing._access.session import keep
from pyctrl.testing._cluster.choice import ClusterChoice, cluster_choice
from pyctrl.testing._loop.watched_loop import no_blocking_calls, no_leftovers

if TYPE_CHECKING:
    from pyctrl.apiserver import AdmissionPluginName
    from pyctrl.client import Client, Config
    from pyctrl.testing._access.recorder import AccessRecorder
    from pyctrl.testing._access.under_role import UnderRole
    from pyctrl.testing._cluster.cluster_under_test import ClusterUnderTest
    from pyctrl.testing._cluster.install_kinds import InstallKinds

__all__: list[str] = []


@pytest.fixture(autouse=True)
def _pyctrl_strict_loop(request: pytest.FixtureRequest) -> Iterator[None]:
    """Check the event loop of an async test if ``pyctrl_strict_loop`` is set."""
    if not request.config.getini("pyctrl_strict_loop") or not pytest_asyncio.is_async_test(request.node):
        yield
        return
    request.getfixturevalue("_pyctrl_no_leftovers")
    with no_blocking_calls():
        yield


@pytest.fixture(autouse=True)
def _pyctrl_dropped_status() -> Iterator[None]:
    """Warn about status changes that an update or a patch of the object drops."""
    if "pyctrl.client" not in sys.modules:  # the test writes nothing
        yield
        return
    from pyctrl.client import reporting_dropped_status

    with reporting_dropped_status(partial(warnings.warn, stacklevel=2)):
        yield


@pytest.fixture(autouse=True)
def _pyctrl_undeclared_reads() -> Iterator[None]:
    """Warn after the test about reads of kinds that a reconciler does not declare. No reconcile fails because of it."""
    if "pyctrl.controller" not in sys.modules:
        yield
        return
    from pyctrl.controller import UndeclaredRead, reporting_undeclared_reads

    found: list[UndeclaredRead] = []
    with reporting_undeclared_reads(found.append):
        yield
    for read in found:
        warnings.warn(str(read), stacklevel=1)


@pytest_asyncio.fixture
async def _pyctrl_no_leftovers() -> AsyncIterator[None]:
    """Check for leftovers. It is set up before every other async fixture, hence torn down after all of them."""
    async with no_leftovers():
        yield


@pytest.fixture(scope="session")
def _pyctrl_outside_cluster() -> Iterator[ClusterUnderTest | None]:
    """The cluster of the session, or None if the environment chooses none."""
    from pyctrl.testing._cluster.cluster_under_test import outside_cluster

    choice = cluster_choice()
    if choice is ClusterChoice.EMBEDDED:
        import_module("pyctrl.cluster")  # here, outside of the loop of the first test, because it takes about a second
        yield None
        return
    with outside_cluster(choice) as cluster:
        yield cluster


@pytest_asyncio.fixture
async def cluster(
    request: pytest.FixtureRequest, _pyctrl_outside_cluster: ClusterUnderTest | None
) -> AsyncIterator[ClusterUnderTest]:
    """A Kubernetes cluster: a new embedded one for each test, or the one that the environment names."""
    if _pyctrl_outside_cluster is not None:
        yield _pyctrl_outside_cluster
        return
    from pyctrl.apiserver import ApiServer, EndpointServiceResolver, HttpsCaller
    from pyctrl.cluster import Cluster
    from pyctrl.testing._cluster.cluster_under_test import ClusterUnderTest
    from pyctrl.testing._cluster.install_kinds import InProcessWebhooks

    guarded = request.node.get_closest_marker("rbac") is not None or "under_role" in request.fixturenames
    plugins: tuple[AdmissionPluginName, ...] = ("OwnerReferencesPermissionEnforcement",) if guarded else ()
    gates = request.node.get_closest_marker("feature_gates")
    webhooks, random = InProcessWebhooks(), Random()
    server = ApiServer(
        random=random,
        authorization="RBAC" if guarded else "AlwaysAllow",
        enable_admission_plugins=plugins,
        webhooks=webhooks,
        feature_gates=None if gates is None else gates.kwargs,
    )
    webhooks.elsewhere = HttpsCaller(EndpointServiceResolver(server.storage))
    async with Cluster(server=server, random=random) as embedded:
        yield ClusterUnderTest(
            config=embedded.config, choice=ClusterChoice.EMBEDDED, has_rbac=guarded, webhooks=webhooks
        )


@pytest_asyncio.fixture
async def client(cluster: ClusterUnderTest) -> AsyncIterator[Client]:
    """A client of the cluster, without a cache."""
    async with cluster.client() as client:
        yield client


@pytest_asyncio.fixture
async def install_kinds(cluster: ClusterUnderTest, client: Client) -> AsyncIterator[InstallKinds]:
    """Installer of a program's kinds, with all versions and their conversion; see `pyctrl.testing.InstallKinds`."""
    from pyctrl.testing._cluster.install_kinds import InstallKinds

    async with AsyncExitStack() as stack:
        yield InstallKinds(cluster=cluster, client=client, stack=stack)


@pytest_asyncio.fixture
async def namespace(cluster: ClusterUnderTest, client: Client) -> AsyncIterator[str]:
    """The name of this test's own namespace, ready for pods; deleted afterwards with its contents."""
    from pyctrl.api import Key, ObjectMeta
    from pyctrl.client import wait_for
    from pyctrl.kinds.core.v1 import Namespace, ServiceAccount

    created = await client.create(Namespace(metadata=ObjectMeta(generate_name="test-")))
    name = created.metadata.name
    if cluster.has_controllers:  # admission rejects pods until this account exists
        await wait_for(client, ServiceAccount, Key(name, "default"))
    yield name
    await client.delete(created)


@pytest_asyncio.fixture
async def running_pods(cluster: ClusterUnderTest) -> AsyncIterator[None]:
    """Run pods: on a cluster without nodes, such as a bare control plane, a simulated kubelet runs them."""
    from pyctrl.testing._cluster.stand_ins import stand_ins

    async with stand_ins(cluster):
        yield


@pytest_asyncio.fixture
async def storage_class(cluster: ClusterUnderTest) -> AsyncIterator[str]:
    """The name of a storage class with a provisioner: a simulated one on a cluster that has none."""
    from pyctrl.testing._cluster.stand_ins import volume_maker

    async with volume_maker(cluster) as name:
        yield name


@pytest.fixture
def accesses(request: pytest.FixtureRequest) -> Iterator[AccessRecorder]:
    """Recorder of the accesses of this test's operators, for ``--rbac-record`` and ``--rbac-check``."""
    from pyctrl.testing._access.recorder import AccessRecorder

    recorder = AccessRecorder(by=request.node.nodeid)
    yield recorder
    keep(request.config, recorder.asked)


@pytest.fixture
def operator_config(cluster: ClusterUnderTest, accesses: AccessRecorder) -> Config:
    """The `Config` of an operator under test: with every permission; ``accesses`` records its requests."""
    return accesses.recorded(cluster.config)


@pytest.fixture
def under_role(
    request: pytest.FixtureRequest, cluster: ClusterUnderTest, namespace: str, accesses: AccessRecorder
) -> UnderRole:
    """Runner of operators under exactly the roles that their wiring declares; see `pyctrl.testing.UnderRole`."""
    from pyctrl.testing._access.under_role import UnderRole

    return UnderRole(cluster=cluster, namespace=namespace, accesses=accesses, by=request.node.nodeid)
