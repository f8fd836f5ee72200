"""A cluster in this process: the API server with its controllers, scheduler and simulated kubelet."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from random import Random
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from pyctrl.api import Key, Unstructured
from pyctrl.apiserver import (
    AdmissionPluginName,
    ApiServer,
    CertificateAuthority,
    ClusterAuthenticationInfo,
    FeatureGate,
    RequestHeaderInfo,
    User,
    serve,
)
from pyctrl.client import Client, Config, ServerWarning, wait_for
from pyctrl.cluster._controller_manager import ControllerName, add_controllers, controller_names
from pyctrl.cluster._controllers.rootcacertpublisher import PLACEHOLDER_CA
from pyctrl.cluster._kubelet.kubelet import add_kubelet
from pyctrl.cluster._kubelet.kubelet_server import SimulatedKubeletServer
from pyctrl.cluster._kubelet.node_heartbeat import SendNow
from pyctrl.cluster._kubelet.node_status import PostponedHeartbeats
from pyctrl.cluster._kubelet.options import Kubelet
from pyctrl.cluster._kubelet.pod_sessions import PodSession
from pyctrl.cluster._provisioner import add_volumes
from pyctrl.kinds.apiregistration.v1 import APIService
from pyctrl.kinds.core.v1 import Node, ServiceAccount
from pyctrl.kinds.rbac.v1 import ClusterRole
from pyctrl.manager import Manager, Preflight

if TYPE_CHECKING:
    from pyctrl.extension_apiserver import ExtensionAPIServer

__all__ = ["Cluster", "serving_cluster"]


MASTERS = "system:masters"
ADMIN = User(name="kubernetes-admin", groups=(MASTERS,))
WHOLE_ROLE = Key("", "admin")  # the last to be aggregated: its parts are aggregated themselves
EXTENSION_SERVICE = Key("default", "extension-apiserver")
FIELD_OWNER = "kube-controller-manager"
CONTROLLERS = User(name="system:kube-controller-manager", groups=(MASTERS,))


class Cluster:
    """A Kubernetes cluster in this process, for tests, demos and development.

        async with Cluster() as cluster:
            async with Manager(cluster.config) as manager: ...

    The server keeps all objects in memory; a `server` with a `Backend` keeps them on disk, too. The controllers are
    ordinary pyctrl reconcilers on the in-process transport. They create the default objects of namespaces and empty
    deleted ones, collect garbage, and create the pods of workloads. A simulated kubelet runs these pods on simulated
    nodes. Without `serve` the cluster opens no socket and starts no thread, so it works in virtual time and is
    reproducible with a seeded ``random``.

    Args:
        controllers: run the controllers of kube-controller-manager: all, or those with these names, such as
            ``("garbage-collector-controller", "namespace-controller")``.
        kubelet: run simulated nodes with a scheduler and the node-lifecycle-controller; a `Kubelet` sets their
            behaviour. With False there are no nodes, and pods stay Pending.
        nodes: the number of nodes, or `Node` objects with their names, labels, taints and capacity.
        volumes: provision volumes for claims if there are nodes, with the default storage class ``standard``.
        random: the source of uids, generated names and jitter.
        rbac: authorize requests by roles and bindings, including the default ones of every cluster. Without it, every
            user may do everything. `config` is an administrator's; `config_for` and `config_for_account` are not.
        enable_admission_plugins: admission plugins to enable that are off by default; see `ApiServer`.
        disable_admission_plugins: admission plugins to disable that are on by default.
        feature_gates: alpha features to enable; see `ApiServer`.
        server: the `ApiServer` to use, for example one with users. It also decides about RBAC, admission plugins and
            features.
        token: the bearer token of `config`; by default that of a built-in administrator.
        authority: the CA of the serving certificates under TLS; pods trust it as their root CA. By default `serve`
            creates one.
    """

    def __init__(
        self,
        *,
        controllers: bool | Collection[ControllerName] = True,
        kubelet: bool | Kubelet = True,
        nodes: int | Sequence[Node] = 1,
        volumes: bool = True,
        random: Random | None = None,
        rbac: bool = False,
        enable_admission_plugins: Collection[AdmissionPluginName] = (),
        disable_admission_plugins: Collection[AdmissionPluginName] = (),
        feature_gates: Mapping[FeatureGate, bool] | None = None,
        server: ApiServer | None = None,
        token: str | None = None,
        authority: CertificateAuthority | None = None,
    ) -> None:
        self.random: Random = random or Random()
        mode: Literal["RBAC", "AlwaysAllow"] = "RBAC" if rbac else "AlwaysAllow"
        self.server: ApiServer = server or ApiServer(
            random=self.random,
            authorization=mode,
            enable_admission_plugins=enable_admission_plugins,
            disable_admission_plugins=disable_admission_plugins,
            feature_gates=feature_gates,
        )
        #: The client configuration for this process; pass it to a `Manager` or to `Client.connect`.
        self.config: Config = Config.in_process(self.server, token=token or self.server.issue_token(ADMIN))
        self._authority = authority
        self._controllers = controller_names(None if controllers is True else controllers or ())
        self._kubelet = kubelet if isinstance(kubelet, Kubelet) else Kubelet() if kubelet else None
        if self._kubelet is not None:  # otherwise nodes would keep the taint not-ready with which they are created
            self._controllers |= {"node-lifecycle-controller"}
        self._nodes, self._volumes = nodes, volumes
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self.server.running())
            if self._controllers or self._kubelet is not None:
                await self._start(stack)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    def config_for(self, user: User) -> Config:
        """Return the in-process client configuration of a user, who needs no account."""
        return Config.in_process(self.server, token=self.server.issue_token(user))

    def config_for_account(self, account: Key) -> Config:
        """Return the in-process client configuration of a service account, with which a pod of that account connects.

        Raises:
            LookupError: the account does not exist.
        """
        token = self.server.issue_account_token(account.namespace, account.name)
        return Config.in_process(self.server, token=token, namespace=account.namespace)

    def pod_sessions(self, pod: Key) -> Sequence[PodSession]:
        """Return what clients do, or have done, in a pod of a simulated node, in the order in which they began.

        These are the latest fifty commands (`pods/exec`), attached clients and connections to ports. They are forgotten
        with the pod.
        """
        kubelets = (each for each in self.server.kubelets.values() if isinstance(each, SimulatedKubeletServer))
        return next(filter(None, (each.sessions(pod) for each in kubelets)), ())

    def client(self) -> Client:
        """Return an in-process client of this cluster. The caller closes it."""
        return Client.connect(self.config)

    async def add_extension_apiserver(self, server: ExtensionAPIServer, *, service: Key = EXTENSION_SERVICE) -> None:
        """Serve the kinds of an extension API server, in this process, and return when they are available.

        Args:
            service: the Service in their APIServices, which is created. It leads to no other process.
        """
        from pyctrl.extension_apiserver import api_service_names, in_process_host, in_process_objects  # here: for few

        self.server.service_transports[in_process_host(service)] = server
        async with Client.connect(self.config) as client:
            for each in in_process_objects(server.kinds, service):
                await client.apply(Unstructured(each), force=True)
            for name in api_service_names(server.kinds):
                await wait_for(client, APIService, Key("", name), _is_available)

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
        """Serve the cluster over HTTP until the block ends; yield the administrator's client configuration.

        ``config.to_kubeconfig()`` is for kubectl. Unless the server has users, every client that can connect is an
        administrator, so listen at loopback addresses only.

        Args:
            host: the address to listen at.
            port: the port to listen at; 0 selects a free one.
            tls: serve HTTPS, with a certificate that the Config trusts; requires
                ``pip install 'pyctrl-runtime[apiserver]'``.
            allowed_hosts: without ``tls``, the host names that clients may use besides addresses and `localhost`.
                Others are refused as a protection against DNS rebinding.
            client_ca: CA certificates, in PEM, that sign accepted client certificates, besides the cluster's own CA.

        Raises:
            OSError: the address does not exist, or the port is in use.
            ConfigError: certificates cannot be created.
        """
        token = self.server.issue_token(ADMIN)
        if not tls:
            async with serve(self.server, host, port, allowed_hosts=allowed_hosts) as url:
                yield Config.from_token(url, token)
            return
        authority = self._own_authority()
        context = authority.server_context([host], client_ca=client_ca)
        self._publish_authentication(authority.certificate + client_ca)
        async with serve(self.server, host, port, context) as url:
            yield Config.from_token(url, token, ca=authority.certificate)

    def _own_authority(self) -> CertificateAuthority:
        """Return the authority of the cluster, created on the first use."""
        if self._authority is None:
            self._authority = CertificateAuthority.new()
        return self._authority

    def _publish_authentication(self, client_ca: bytes) -> None:
        """Publish the authorities of users and of a new front proxy, for extension API servers."""
        front_proxy = CertificateAuthority.new_front_proxy()
        info = ClusterAuthenticationInfo(
            client_ca=client_ca, request_header=RequestHeaderInfo(client_ca=front_proxy.certificate)
        )
        self.server.publish_authentication(info, proxy_client=front_proxy.front_proxy_client())

    async def _start(self, stack: AsyncExitStack) -> None:
        """Run the controllers and wait until the default objects of a new cluster exist."""
        token = self.server.issue_token(CONTROLLERS)
        own = Config.in_process(self.server, token=token)
        connection = Client.connect(own, field_owner=FIELD_OWNER, on_warning=_ignore_warning)
        client = await stack.enter_async_context(connection)
        manager = Manager(client=client, random=self.random, preflight=Preflight.OFF)  # masters may do everything
        await stack.enter_async_context(manager)
        manager.cache.is_direct = True
        if self._controllers:
            root_ca = self._authority.certificate.decode() if self._authority is not None else PLACEHOLDER_CA
            add_controllers(
                manager,
                controllers=self._controllers,
                root_ca=root_ca,
                make_token=self.server.issue_long_lived_token,
                authority=self._own_authority,
                latest_heartbeat=self.server.storage.heartbeats.latest,
            )
            self.server.components.add("controller-manager")
        if self._kubelet is not None:
            self.server.components.add("scheduler")
            heartbeats = self.server.storage.heartbeats
            add_kubelet(
                manager,
                nodes=self._nodes,
                kubelet=self._kubelet,
                servers=self.server.kubelets,
                postponed=PostponedHeartbeats(heartbeats, self._sender(token), self.random),
            )
            stack.callback(heartbeats.end_all)
            if self._volumes:
                add_volumes(manager, start_seconds=self._kubelet.start_seconds)
        await stack.enter_async_context(manager.running())
        if "serviceaccount-controller" in self._controllers:
            await wait_for(manager.live_client, ServiceAccount, Key("default", "default"))
        if "clusterrole-aggregation-controller" in self._controllers and self.server.has_rbac:
            await wait_for(manager.live_client, ClusterRole, WHOLE_ROLE, lambda role: bool(role.rules))

    def _sender(self, token: str) -> SendNow:
        """Return a function that sends a request of the controllers without waiting."""
        query = (("fieldManager", FIELD_OWNER),)

        def send(method: str, path: str, media_type: str, body: bytes) -> int:
            headers = {"Authorization": f"Bearer {token}", "Content-Type": media_type}
            return self.server.handle_nowait(method, path, query, headers, body).status

        return send


def _is_available(api_service: APIService) -> bool:
    return any(each.type == "Available" and each.status == "True" for each in api_service.status.conditions or ())


def _ignore_warning(warning: ServerWarning) -> None:
    """Drop a warning: the deprecation of Endpoints concerns no controller that maintains them."""


@contextmanager
def serving_cluster(make: Callable[[], Cluster] = Cluster, *, tls: bool = False) -> Iterator[Config]:
    """Serve a cluster from a thread of its own until the block ends; yield its client configuration.

        with serving_cluster() as config:
            Path("kubeconfig").write_text(config.to_kubeconfig())

    Args:
        make: creates the cluster in that thread, for example ``lambda: Cluster(kubelet=False)``.
        tls: serve HTTPS, as in `Cluster.serve`.

    Raises:
        Exception: the error with which the cluster failed to start.
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
    """Serve until the stop callback is called; pass an error before that to the other thread."""
    stopped, loop = asyncio.Event(), asyncio.get_running_loop()
    try:
        async with make() as cluster, cluster.serve(tls=tls) as config:
            served.set_result((config, lambda: loop.call_soon_threadsafe(stopped.set)))
            await stopped.wait()
    except Exception as error:
        if served.done():
            raise
        served.set_exception(error)
