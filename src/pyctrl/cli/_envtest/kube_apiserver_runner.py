"""Runner of envtest's kube-apiserver: assembles the API server from kube-apiserver's flags."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import ssl
import sys
from collections.abc import Collection
from contextlib import AsyncExitStack
from datetime import timedelta
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from pyctrl._go.durations import parse_duration
from pyctrl.apiserver import (
    AdmissionConfiguration,
    AdmissionPluginName,
    ApiServer,
    AuditLog,
    AuthenticationWebhook,
    AuthorizationWebhook,
    CertificateAuthority,
    FeatureGate,
    ResourceRegistry,
    User,
    is_feature_gate,
    parse_feature_gates,
    read_token_file,
    serve,
    serving_context,
)
from pyctrl.cli._admission_configuration_file import read_admission_configuration
from pyctrl.cli._audit_policy_file import read_audit_policy
from pyctrl.cli._envtest.etcd import PARENT_SECONDS, watched_parent
from pyctrl.cli._envtest.front_proxy import FRONT_PROXY_FLAGS, authentication_info, proxy_client
from pyctrl.cli._envtest.kube_apiserver import ALL_CONTROLLERS, CONTROLLERS, KUBELET, NODES, POD_SCRIPT
from pyctrl.cli._envtest.kube_apiserver_flags import Flags
from pyctrl.cli._signals import run_until_signal
from pyctrl.cli._webhook_kubeconfig import webhook_target
from pyctrl.errors import CommandFailed

if TYPE_CHECKING:
    from pyctrl.cluster import ControllerName

__all__ = ["KubeAPIServerRunner"]


SECURE_PORT = 6443  # kube-apiserver's default
CERT_DIR = "/var/run/kubernetes"
SERVICE_CLUSTER_IP_RANGE = "10.0.0.0/24"
SERVICE_NODE_PORT_RANGE = "30000-32767"
MODES = ("Node", "RBAC", "AlwaysAllow", "Webhook")
NOT_ANONYMOUS = (
    "AnonymousAuth is not allowed with the AlwaysAllow authorizer. Resetting AnonymousAuth to false. You should use a "
    "different authorizer"
)

_APPLIED = frozenset(
    (
        "anonymous-auth",
        "audit-log-format",
        "admission-control-config-file",
        "audit-log-path",
        "audit-policy-file",
        "authentication-token-webhook-cache-ttl",
        "authentication-token-webhook-config-file",
        "authentication-token-webhook-version",
        "authorization-mode",
        "authorization-webhook-cache-authorized-ttl",
        "authorization-webhook-cache-unauthorized-ttl",
        "authorization-webhook-config-file",
        "authorization-webhook-version",
        "bind-address",
        "cert-dir",
        "client-ca-file",
        "disable-admission-plugins",
        "enable-admission-plugins",
        "feature-gates",
        "secure-port",
        "service-cluster-ip-range",
        "service-node-port-range",
        "tls-cert-file",
        "tls-private-key-file",
        "token-auth-file",
        *FRONT_PROXY_FLAGS,
    )
)
# What these configure does not exist here (etcd, kubelets, several servers), or no client notices it.
_IMMATERIAL = (
    "advertise-address",
    "aggregator-",
    "allow-privileged",
    "apiserver-count",
    "audit-log-",
    "contention-profiling",
    "coordinated-",
    "default-watch-cache-size",
    "delete-collection-workers",
    "disable-http2-serving",
    "enable-aggregator-routing",
    "enable-garbage-collector",
    "enable-priority-and-fairness",
    "endpoint-reconciler-type",
    "etcd-",
    "goaway-chance",
    "http2-",
    "kubelet-",
    "lease-reuse-",
    "livez-",
    "log",
    "max-",
    "min-",
    "peer-",
    "permit-",
    "profiling",
    "request-timeout",
    "shutdown-",
    "storage-",
    "v",
    "watch-cache",
)


class KubeAPIServerRunner:
    """Serves pyctrl's API server according to the flags of kube-apiserver."""

    def __init__(self, flags: Flags) -> None:
        self._flags = flags

    def main(self) -> int:
        """Serve until a signal; return the exit code.

        Raises:
            PyctrlError: the server cannot be started with these flags.
        """
        for name in self._flags:
            if name not in _APPLIED and not name.startswith(_IMMATERIAL):
                print(f"kube-apiserver: --{name} has no effect on pyctrl's API server", file=sys.stderr)
        return asyncio.run(self._run())

    async def _run(self) -> int:
        ready = asyncio.Event()
        _end_with_parent(watched_parent())
        return await run_until_signal(self._serve(ready), is_ready=ready.is_set)

    async def _serve(self, ready: asyncio.Event) -> None:
        """Serve until cancelled. Flags and files are checked before the server listens."""
        host, port = self._flags.text("bind-address", "0.0.0.0"), self._flags.number("secure-port", SECURE_PORT)
        async with AsyncExitStack() as stack:
            tls, authority = self._tls(host)
            server = self._server(stack)
            server.publish_authentication(authentication_info(self._flags), proxy_client=proxy_client(self._flags))
            try:
                await stack.enter_async_context(serve(server, host, port, tls))
            except OSError as error:
                why = (
                    error.strerror or str(error)
                ).lower()  # as Go writes it: callers look for "address already in use"
                raise CommandFailed(f"failed to create listener: failed to listen on {host}:{port}: {why}") from error
            ready.set()
            gc.freeze()  # objects of the start stay: the garbage collector skips them
            await self._start_controllers(stack, server, authority)
            await asyncio.Event().wait()

    async def _start_controllers(
        self, stack: AsyncExitStack, server: ApiServer, authority: CertificateAuthority
    ) -> None:
        """Start the controllers that the environment selects; envtest's control planes have none."""
        names_of_variables = (CONTROLLERS, KUBELET, NODES, POD_SCRIPT)
        controllers, kubelet, nodes, script = (os.environ.get(name, "") for name in names_of_variables)
        has_nodes = bool(kubelet or nodes or script)
        if not controllers and not has_nodes:
            return

        names = cast("tuple[ControllerName, ...]", tuple(filter(None, controllers.split(","))))

        def cluster() -> Any:
            from pyctrl.cli._pod_script import load_pod_script
            from pyctrl.cluster import Cluster, Kubelet  # here: as slow as the rest of the start

            return Cluster(
                controllers=names if controllers != ALL_CONTROLLERS else True,
                kubelet=Kubelet(script=load_pod_script(script or None)) if has_nodes else False,
                nodes=int(nodes or 1),
                server=server,
                authority=authority,
            )

        await stack.enter_async_context(await asyncio.to_thread(cluster))

    # -- the server --------------------------------------------------------------------------------------------

    def _server(self, stack: AsyncExitStack) -> ApiServer:
        modes = self._modes()
        try:
            return ApiServer(
                registry=self._registry(),
                tokens=self._tokens(),
                authorization=modes,
                authentication_webhook=self._authentication_webhook(),
                authorization_webhook=self._authorization_webhook(),
                audit=self._audit_log(stack),
                enable_admission_plugins=self._plugins("enable-admission-plugins"),
                disable_admission_plugins=self._plugins("disable-admission-plugins"),
                admission_configuration=self._admission_configuration(),
                anonymous_auth=self._anonymous_auth(modes),
                feature_gates=self._feature_gates(),
            )
        except ValueError as error:
            raise CommandFailed(str(error)) from error

    def _anonymous_auth(self, modes: Collection[str]) -> bool:
        """Return whether requests without credentials are anonymous, as upstream: never if everything is allowed."""
        wanted = self._flags.flag("anonymous-auth", default=True)
        if wanted and "AlwaysAllow" in modes:
            print(f"kube-apiserver: {NOT_ANONYMOUS}", file=sys.stderr)
            return False
        return wanted

    def _registry(self) -> ResourceRegistry:
        """Return the resources. Of two ranges of cluster IPs the first is used, which has to be IPv4."""
        addresses = self._flags.text("service-cluster-ip-range", SERVICE_CLUSTER_IP_RANGE)
        ports = self._flags.text("service-node-port-range", SERVICE_NODE_PORT_RANGE)
        try:
            return ResourceRegistry(
                service_cluster_ip_range=addresses.partition(",")[0], service_node_port_range=_port_range(ports)
            )
        except ValueError as error:
            raise CommandFailed(
                "expected an IPv4 network in --service-cluster-ip-range and a range of ports in "
                f"--service-node-port-range, got {addresses!r} and {ports!r}"
            ) from error

    def _tokens(self) -> dict[str, User]:
        """Return the users by token. None would make every client an administrator."""
        path = self._flags.text("token-auth-file")
        if not path:
            return {}
        try:
            return read_token_file(_read("--token-auth-file", path).decode().splitlines())
        except ValueError as error:
            raise CommandFailed(f"--token-auth-file {path}: {error}") from error

    def _feature_gates(self) -> dict[FeatureGate, bool]:
        """Return the gates that the server has. Others are left out."""
        gates = parse_feature_gates(self._flags.items("feature-gates"))
        known = {name: value for name, value in gates.items() if is_feature_gate(name)}
        for name in gates.keys() - known.keys():
            print(f"kube-apiserver: the feature gate {name} has no effect on pyctrl's API server", file=sys.stderr)
        return cast("dict[FeatureGate, bool]", known)

    def _modes(self) -> tuple[Literal["Node", "RBAC", "AlwaysAllow", "Webhook"], ...]:
        """Return the authorization modes. ABAC is left out."""
        named = self._flags.items("authorization-mode") or ("AlwaysAllow",)
        left_out = [mode for mode in named if mode not in MODES]
        for mode in left_out:
            print(f"kube-apiserver: --authorization-mode {mode} has no effect on pyctrl's API server", file=sys.stderr)
        modes = tuple(mode for mode in named if mode in MODES)
        return cast(tuple[Literal["Node", "RBAC", "AlwaysAllow", "Webhook"], ...], modes or ("RBAC",))

    def _authentication_webhook(self) -> AuthenticationWebhook | None:
        path = self._flags.text("authentication-token-webhook-config-file")
        if not path:
            return None
        url, ca = webhook_target("--authentication-token-webhook-config-file", Path(path))
        version = self._flags.text("authentication-token-webhook-version", "v1beta1")
        return AuthenticationWebhook(
            url=url,
            ca=ca,
            version=cast(Literal["v1", "v1beta1"], version),
            cache=self._duration("authentication-token-webhook-cache-ttl", "2m"),
        )

    def _authorization_webhook(self) -> AuthorizationWebhook | None:
        path = self._flags.text("authorization-webhook-config-file")
        if not path:
            return None
        url, ca = webhook_target("--authorization-webhook-config-file", Path(path))
        version = self._flags.text("authorization-webhook-version", "v1beta1")
        return AuthorizationWebhook(
            url=url,
            ca=ca,
            version=cast(Literal["v1", "v1beta1"], version),
            authorized_cache=self._duration("authorization-webhook-cache-authorized-ttl", "5m"),
            unauthorized_cache=self._duration("authorization-webhook-cache-unauthorized-ttl", "30s"),
        )

    def _duration(self, name: str, default: str) -> timedelta:
        return timedelta(seconds=parse_duration(self._flags.text(name, default)))

    def _audit_log(self, stack: AsyncExitStack) -> AuditLog | None:
        path, policy_file = self._flags.text("audit-log-path"), self._flags.text("audit-policy-file")
        policy = read_audit_policy(Path(policy_file)) if policy_file else None
        if not path or policy is None:
            return None  # without a policy kube-apiserver logs nothing
        form = self._flags.text("audit-log-format", "json")
        if form not in ("json", "legacy"):
            raise CommandFailed(f'invalid audit log format {form}, allowed formats are "legacy,json"')
        known = cast(Literal["json", "legacy"], form)
        if path == "-":
            return AuditLog(_write_to_stdout, policy=policy, format=known)
        try:
            file = FileIO(path, "a", opener=lambda name, mode: os.open(name, mode, 0o600))
        except OSError as error:
            raise CommandFailed(f"--audit-log-path {path}: {error.strerror}") from error
        return AuditLog(stack.enter_context(file).write, policy=policy, format=known)

    def _plugins(self, flag: str) -> tuple[AdmissionPluginName, ...]:
        """Return the plugins of a flag.

        Raises:
            CommandFailed: a plugin is unknown.
        """
        names = self._flags.items(flag)
        known = get_args(AdmissionPluginName)
        for name in names:
            if name not in known:
                raise CommandFailed(f'{flag} plugin "{name}" is unknown')
        return tuple(name for name in known if name in names)

    def _admission_configuration(self) -> AdmissionConfiguration | None:
        path = self._flags.text("admission-control-config-file")
        return read_admission_configuration(Path(path)) if path else None

    # -- certificates ------------------------------------------------------------------------------------------

    def _tls(self, host: str) -> tuple[ssl.SSLContext, CertificateAuthority]:
        """Return the TLS context, and the authority that pods trust: of a self-signed certificate, itself."""
        certificate, key = self._certificate(host)
        path = self._flags.text("client-ca-file")
        client_ca = _read("--client-ca-file", path) if path else b""
        context = serving_context(certificate, key, client_ca=client_ca)
        return context, CertificateAuthority(certificate.read_bytes(), b"")

    def _certificate(self, host: str) -> tuple[Path, Path]:
        """Return the files of the serving certificate; create them in --cert-dir as kube-apiserver does."""
        if path := self._flags.text("tls-cert-file"):
            return Path(path), Path(self._flags.text("tls-private-key-file"))
        directory = Path(self._flags.text("cert-dir", CERT_DIR))
        certificate, key = directory / "apiserver.crt", directory / "apiserver.key"
        if not certificate.exists():
            authority = CertificateAuthority.new()
            pair = authority.server([] if host in ("0.0.0.0", "::") else [host])
            directory.mkdir(parents=True, exist_ok=True)
            key.touch(mode=0o600)
            key.write_bytes(pair.key)
            certificate.write_bytes(pair.certificate + authority.certificate)
        return certificate, key


def _end_with_parent(parent: int | None) -> None:
    """Stop as after SIGTERM when the parent has ended, from now on; None is no parent to watch."""
    if parent is None:
        return
    if os.getppid() != parent:
        signal.raise_signal(signal.SIGTERM)
        return
    asyncio.get_running_loop().call_later(PARENT_SECONDS, _end_with_parent, parent)


def _port_range(text: str) -> range:
    """Return the ports of BASE-LAST, BASE+COUNT or PORT.

    Raises:
        ValueError: It is none of them, or exceeds the ports that exist.
    """
    base, separator, rest = text.replace("+", "-").partition("-")
    first = int(base)
    last = int(rest) + (first if "+" in text else 0) if separator else first
    if not 0 <= first <= last < 65_536:
        raise ValueError(text)
    return range(first, last + 1)


def _read(flag: str, path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise CommandFailed(f"{flag} {path}: {error.strerror}") from error


def _write_to_stdout(line: bytes) -> None:
    sys.stdout.buffer.write(line)
    sys.stdout.flush()
