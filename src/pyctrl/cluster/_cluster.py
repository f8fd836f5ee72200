"""A cluster in this process: the API server, and the controllers without which it would only be a store."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from random import Random
from types import TracebackType
from typing import Literal, Self

from pyctrl.api import Key
from pyctrl.apiserver import AdmissionPluginName, ApiServer, CertificateAuthority, User, serve
from pyctrl.client import Client, Config, ServerWarning, wait_for
from pyctrl.cluster._controllers.clusterroleaggregation import add_clusterrole_aggregation
from pyctrl.cluster._controllers.cronjob.controller import add_cronjobs
from pyctrl.cluster._controllers.daemonset.controller import add_daemonsets
from pyctrl.cluster._controllers.deployment.controller import add_deployments
from pyctrl.cluster._controllers.disruption import add_disruptions
from pyctrl.cluster._controllers.endpoints.controller import add_endpoints
from pyctrl.cluster._controllers.garbagecollector.controller import add_garbage_collector
from pyctrl.cluster._controllers.job.controller import add_jobs
from pyctrl.cluster._controllers.kubernetesservice import add_kubernetes_service
from pyctrl.cluster._controllers.namespace import PLACEHOLDER_CA, add_namespaces
from pyctrl.cluster._controllers.nodelifecycle import add_node_lifecycle
from pyctrl.cluster._controllers.replicaset import add_replicasets, add_replicationcontrollers
from pyctrl.cluster._controllers.serviceaccount import MakeToken, add_account_tokens
from pyctrl.cluster._controllers.statefulset.controller import add_statefulsets
from pyctrl.cluster._controllers.volume.ephemeral import add_ephemeral_volumes
from pyctrl.cluster._controllers.volume.persistentvolume import add_persistent_volumes
from pyctrl.cluster._controllers.volume.pvcprotection import add_pvc_protection
from pyctrl.cluster._kubelet.kubelet import add_kubelet
from pyctrl.cluster._kubelet.options import Kubelet
from pyctrl.cluster._provisioner import add_volumes
from pyctrl.kinds.core.v1 import Node, ServiceAccount
from pyctrl.kinds.rbac.v1 import ClusterRole
from pyctrl.manager import Manager, Preflight

__all__ = ["Cluster", "add_controllers", "serving_cluster"]


MASTERS = "system:masters"
ADMIN = User(name="kubernetes-admin", groups=(MASTERS,))
WHOLE_ROLE = Key("", "admin")  # the last that is aggregated: it has parts that have parts
CONTROLLERS = User(name="system:kube-controller-manager", groups=(MASTERS,))


def add_controllers(manager: Manager, *, root_ca: str = PLACEHOLDER_CA, make_token: MakeToken | None = None) -> None:
    """Add what kube-controller-manager does to a manager: namespaces, garbage, workloads, claims, roles, tokens.

    Args:
        root_ca: the certificate, as PEM, that pods are told to trust the server by.
        make_token: signs the tokens that Secrets keep; only the server's own key can: without, they stay empty.
    """
    add_namespaces(manager, root_ca=root_ca)
    add_garbage_collector(manager)
    add_replicasets(manager)
    add_replicationcontrollers(manager)
    add_deployments(manager)
    add_statefulsets(manager)
    add_daemonsets(manager)
    add_jobs(manager)
    add_cronjobs(manager)
    add_disruptions(manager)
    add_pvc_protection(manager)
    add_persistent_volumes(manager)
    add_ephemeral_volumes(manager)
    add_clusterrole_aggregation(manager)
    if make_token is not None:
        add_account_tokens(manager, make_token=make_token, root_ca=root_ca)
    add_endpoints(manager)
    add_node_lifecycle(manager)


class Cluster:
    """A Kubernetes cluster in this process, for tests, demos and development.

        async with Cluster() as cluster:
            async with Manager(cluster.config) as manager: ...

    The server keeps everything in memory and loses it at the end. Its controllers are ordinary pyctrl reconcilers on
    the in-process transport: namespaces are furnished and emptied, owners' garbage is collected, Deployments and
    ReplicaSets make pods, and a pretend kubelet runs those on nodes that do not exist. Without `serve` no socket
    is opened and no thread started, so that all of it works in virtual time, and repeats with a seeded ``random``.

    Args:
        controllers: run the controllers; without, this is an API server and nothing else.
        kubelet: run pretend nodes with their scheduler, or how they run; with False there are none: pods stay Pending.
        nodes: how many nodes, or `Node` objects with the names, labels, taints and capacity that they shall have.
        volumes: make volumes for claims where there are nodes, with the default storage class ``standard``.
        random: where uids, generated names and jitter come from.
        rbac: have roles and bindings decide who may do what, with those that every cluster has from the start. Without,
            everybody may do everything. `config` is an administrator's; `config_for` and `config_for_account` are not.
        enable_admission_plugins: plugins of admission that are off by default; see `ApiServer`.
        server: an `ApiServer` to use, such as one with users; whether it has RBAC, and plugins, is said there.
        token: what `config` logs in with; by default an administrator of the server's own.
        authority: what certificates are issued by when it is served over TLS; pods find it as their root. Without one,
            `serve` makes one.
    """

    def __init__(
        self,
        *,
        controllers: bool = True,
        kubelet: bool | Kubelet = True,
        nodes: int | Sequence[Node] = 1,
        volumes: bool = True,
        random: Random | None = None,
        rbac: bool = False,
        enable_admission_plugins: Collection[AdmissionPluginName] = (),
        server: ApiServer | None = None,
        token: str | None = None,
        authority: CertificateAuthority | None = None,
    ) -> None:
        self.random: Random = random or Random()
        mode: Literal["RBAC", "AlwaysAllow"] = "RBAC" if rbac else "AlwaysAllow"
        self.server: ApiServer = server or ApiServer(
            random=self.random, authorization=mode, enable_admission_plugins=enable_admission_plugins
        )
        #: How to reach it from this process; give it to a `Manager` or to `Client.connect`.
        self.config: Config = Config.in_process(self.server, token=token or self.server.issue_token(ADMIN))
        self._authority = authority
        self._controllers = controllers
        self._kubelet = kubelet if isinstance(kubelet, Kubelet) else Kubelet() if kubelet else None
        self._nodes, self._volumes = nodes, volumes
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            if self._controllers or self._kubelet is not None:
                await self._start(stack)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    def config_for(self, user: User) -> Config:
        """Return how to reach it from this process as a user, who needs no introduction; with ``rbac`` that matters."""
        return Config.in_process(self.server, token=self.server.issue_token(user))

    def config_for_account(self, account: Key) -> Config:
        """Return how to reach it from this process as a service account, as a pod of that account does.

        Raises:
            LookupError: there is no such account.
        """
        token = self.server.issue_account_token(account.namespace, account.name)
        return Config.in_process(self.server, token=token, namespace=account.namespace)

    def client(self) -> Client:
        """Return a client of this cluster, in process. The caller closes it."""
        return Client.connect(self.config)

    @asynccontextmanager
    async def serve(
        self,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        tls: bool = False,
        client_ca: bytes = b"",
        allowed_hosts: Collection[str] = (),
    ) -> AsyncIterator[Config]:
        """Serve the cluster over HTTP until the block ends; gives how to reach it there, as its administrator.

        ``config.to_kubeconfig()`` is for kubectl. Unless the server has users, anybody who reaches it is an
        administrator: this is for loopback addresses.

        Args:
            host: the address to listen at.
            port: 0 takes a free one.
            tls: speak HTTPS, with a certificate that the Config trusts; needs
                ``pip install 'pyctrl-runtime[apiserver]'``.
            allowed_hosts: without ``tls``, names that clients call the server by besides addresses and `localhost`;
                others are refused, because a web page may have them.
            client_ca: authorities, as PEM, whose client certificates log in as well as those of the cluster's own.

        Raises:
            OSError: there is no such address, or the port is taken.
            ConfigError: certificates cannot be made.
        """
        token = self.server.issue_token(ADMIN)
        if not tls:
            async with serve(self.server, host, port, allowed_hosts=allowed_hosts) as url:
                yield Config.from_token(url, token)
            return
        authority = self._authority = self._authority or CertificateAuthority.new()
        context = authority.server_context([host], client_ca=client_ca)
        async with serve(self.server, host, port, context) as url:
            yield Config.from_token(url, token, ca=authority.certificate)

    async def _start(self, stack: AsyncExitStack) -> None:
        """Run the controllers, and wait until the cluster is furnished as a real one is."""
        own = Config.in_process(self.server, token=self.server.issue_token(CONTROLLERS))
        connection = Client.connect(own, field_owner="kube-controller-manager", on_warning=_unheard)
        client = await stack.enter_async_context(connection)
        manager = Manager(client=client, random=self.random, preflight=Preflight.OFF)  # masters may do everything
        await stack.enter_async_context(manager)
        if self._controllers:
            root_ca = self._authority.certificate.decode() if self._authority is not None else PLACEHOLDER_CA
            add_controllers(manager, root_ca=root_ca, make_token=self.server.issue_long_lived_token)
            add_kubernetes_service(manager)
        if self._kubelet is not None:
            add_kubelet(manager, nodes=self._nodes, kubelet=self._kubelet)
            if self._volumes:
                add_volumes(manager, start_seconds=self._kubelet.start_seconds)
        await stack.enter_async_context(manager.running())
        if self._controllers:
            default = Key("default", "default")
            await wait_for(manager.live_client, ServiceAccount, default)
            if self.server.has_rbac:
                await wait_for(manager.live_client, ClusterRole, WHOLE_ROLE, lambda role: bool(role.rules))


def _unheard(warning: ServerWarning) -> None:
    """Say nothing: that Endpoints are deprecated is no news to the controller that still makes them."""


@contextmanager
def serving_cluster(make: Callable[[], Cluster] = Cluster, *, tls: bool = False) -> Iterator[Config]:
    """Serve a cluster from a thread of its own until the block ends; gives how to reach it.

        with serving_cluster() as config:
            Path("kubeconfig").write_text(config.to_kubeconfig())

    Args:
        make: makes the cluster, in that thread: ``lambda: Cluster(kubelet=False)``.
        tls: speak HTTPS, as in `Cluster.serve`.

    Raises:
        Exception: whatever kept the cluster from starting.
    """
    served: Future[tuple[Config, Callable[[], object]]] = Future()
    thread = threading.Thread(target=lambda: asyncio.run(_serve(make, tls, served)), name="pyctrl-cluster", daemon=True)
    thread.start()
    config, stop = served.result()
    try:
        yield config
    finally:
        stop()
        thread.join()


async def _serve(make: Callable[[], Cluster], tls: bool, served: Future[tuple[Config, Callable[[], object]]]) -> None:
    """Serve until told to stop; what fails before that is for the other thread to raise."""
    stopped, loop = asyncio.Event(), asyncio.get_running_loop()
    try:
        async with make() as cluster, cluster.serve(tls=tls) as config:
            served.set_result((config, lambda: loop.call_soon_threadsafe(stopped.set)))
            await stopped.wait()
    except Exception as error:
        if served.done():
            raise
        served.set_exception(error)
