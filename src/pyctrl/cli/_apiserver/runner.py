"""Runner of `pyctrl apiserver`: assembles a cluster and serves it until a signal."""

from __future__ import annotations

import asyncio
import errno
import gc
import os
import resource
import sys
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, fields, is_dataclass
from io import FileIO
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from pyctrl._log import configure_logging
from pyctrl.apiserver import (
    AdmissionConfiguration,
    AdmissionPluginName,
    ApiServer,
    AuditLevel,
    AuditLog,
    Backend,
    CertificateAuthority,
    FeatureGate,
    SQLiteBackend,
    User,
    enabled_features,
    enabled_plugins,
    parse_feature_gates,
    read_token_file,
    serve,
    serve_kubelet,
)
from pyctrl.cli._admission_configuration_file import read_admission_configuration
from pyctrl.cli._apiserver.flags import WebhookFlags
from pyctrl.cli._apiserver.front_proxy import FrontProxyFlags
from pyctrl.cli._audit_policy_file import read_audit_policy
from pyctrl.cli._controllers import check_controllers
from pyctrl.cli._kubeconfig_file import check_kubeconfig, write_kubeconfig
from pyctrl.cli._pod_script import load_pod_script
from pyctrl.cli._progress import Progress, progress_line
from pyctrl.cli._signals import run_until_signal
from pyctrl.errors import CommandFailed

if TYPE_CHECKING:
    from pyctrl.cluster import Cluster, ControllerName, ScriptFunction

__all__ = ["ApiServerRunner"]

STATE = "state.db"
ADMINISTRATORS = "system:masters"
NODE = "node-1"  # the first simulated node of the cluster
ADMIN = User(name="kubernetes-admin", groups=(ADMINISTRATORS,))


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiServerRunner:
    """Serves a cluster according to the flags of the command."""

    port: int
    bind_address: str
    kubeconfig_out: Path | None
    force: bool
    cert_dir: Path | None
    insecure_http: bool
    allowed_host: tuple[str, ...]
    token_auth_file: Path | None
    client_ca_file: Path | None
    authorization_mode: tuple[Literal["Node", "RBAC", "AlwaysAllow", "Webhook"], ...] | None
    enable_admission_plugins: tuple[str, ...]
    disable_admission_plugins: tuple[str, ...]
    admission_control_config_file: Path | None
    feature_gates: tuple[str, ...]
    webhooks: WebhookFlags
    front_proxy: FrontProxyFlags
    load: tuple[Path, ...]
    controllers: bool
    controller_name: tuple[str, ...]
    kubelet: bool
    nodes: int
    kubelet_port: int | None
    pod_script: str | None
    pod_start_seconds: float
    data: Path | None
    fsync: bool
    history: int
    audit: Path | None
    audit_policy_file: Path | None
    audit_log_format: Literal["json", "legacy"]
    audit_level: str
    log_level: str

    def main(self) -> int:
        """Serve until a signal; return the exit code.

        Raises:
            PyctrlError: the cluster cannot be served with these flags.
        """
        configure_logging(self.log_level)
        self._warn()
        _allow_connections()
        return asyncio.run(_until_signalled(self._serve))

    def _warn(self) -> None:
        """Warn of refused anonymous requests, and of an unprotected server that other hosts can reach."""
        if not self._is_open and not self._anonymous_auth:
            sys.stderr.write("warning: --authorization-mode AlwaysAllow: requests without credentials get 401\n")
        if _is_loopback(self.bind_address):
            return
        risks = ["every client is an administrator"] if self._is_open else []
        if self.insecure_http:
            risks.append("tokens and Secrets are sent unencrypted")
        if risks:
            cure = "use a loopback address, or --token-auth-file without --insecure-http"
            sys.stderr.write(f"warning: --bind-address {self.bind_address}: {', and '.join(risks)}; {cure}\n")

    @property
    def _is_open(self) -> bool:
        """Return whether every client is an administrator, because none authenticates."""
        files = (
            self.token_auth_file,
            self.client_ca_file,
            self.webhooks.authentication_token_webhook_config_file,
            self.webhooks.authorization_webhook_config_file,
        )
        return not any(files) and self.authorization_mode in (None, ("AlwaysAllow",))

    @property
    def _anonymous_auth(self) -> bool:
        """Return whether requests without credentials are anonymous, as upstream: never if everything is allowed."""
        return "AlwaysAllow" not in (self.authorization_mode or ())

    async def _serve(self, ready: Callable[[str], None]) -> None:
        """Serve until cancelled. Flags and files are checked before anything is started."""
        if self.kubeconfig_out is not None:
            check_kubeconfig(self.kubeconfig_out, force=self.force)
        check_controllers(self.controller_name)
        tokens, script = self._tokens(), load_pod_script(self.pod_script)
        async with AsyncExitStack() as stack:
            backend = self._backend(stack)
            authority = self._authority()
            audit = self._audit_log(stack) if self.audit is not None else None
            server = self._server(tokens, audit, backend)
            server.flags = self._shown_flags()
            url = await self._listen(stack, server, authority)
            if self.load:
                from pyctrl.program import (
                    apply_files_in_process,  # here and below: slow imports that serving alone does not need
                )

                with Progress("objects to load", tell=progress_line):
                    await apply_files_in_process(server, self.load)
            token = _administrator(tokens or {}) or server.issue_token(ADMIN)  # with --data that of earlier runs
            if self.kubeconfig_out is not None:
                write_kubeconfig(self.kubeconfig_out, url, token, authority, force=self.force)
            ready(url)
            if self.controllers or self.controller_name or self.kubelet:
                # As in a real cluster, controllers start after the API server. The thread keeps it serving meanwhile.
                cluster = await asyncio.to_thread(self._cluster, server, authority, script)
                await stack.enter_async_context(cluster)
            await asyncio.Event().wait()

    def _backend(self, stack: AsyncExitStack) -> SQLiteBackend | None:
        """Open the storage of the data directory, which only one server can use."""
        if self.data is None:
            if self.fsync:
                raise CommandFailed("--fsync needs --data: without it nothing is written to a disk")
            return None
        try:
            self.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise CommandFailed(f"--data {self.data}: {error.strerror}") from error
        return stack.enter_context(SQLiteBackend(self.data / STATE, fsync=self.fsync))

    def _server(self, tokens: dict[str, User] | None, audit: AuditLog | None, backend: Backend | None) -> ApiServer:
        file = self.admission_control_config_file
        configuration = AdmissionConfiguration() if file is None else read_admission_configuration(file)
        authentication, authorization = self.webhooks.authentication(), self.webhooks.authorization()
        try:
            configuration.check(enabled_plugins(self.enable_admission_plugins, self.disable_admission_plugins))
        except ValueError as error:
            raise CommandFailed(str(error)) from error
        gates = self._feature_gates()
        try:
            return ApiServer(
                tokens=tokens,
                authorization=self.authorization_mode,
                authentication_webhook=authentication,
                authorization_webhook=authorization,
                audit=audit,
                enable_admission_plugins=cast("tuple[AdmissionPluginName, ...]", self.enable_admission_plugins),
                disable_admission_plugins=cast("tuple[AdmissionPluginName, ...]", self.disable_admission_plugins),
                admission_configuration=configuration,
                anonymous_auth=self._anonymous_auth,
                backend=backend,
                history=self.history,
                feature_gates=gates,
            )
        except ValueError as error:
            raise CommandFailed(
                f"--authorization-mode does not match --authorization-webhook-config-file: {error}"
            ) from error

    def _shown_flags(self) -> dict[str, str]:
        """Return the flags and their values, for `/flagz`."""
        groups: tuple[Any, ...] = (self, self.webhooks, self.front_proxy)
        values = {each.name: getattr(group, each.name) for group in groups for each in fields(group)}
        shown = {name: value for name, value in values.items() if not is_dataclass(value)}
        return {name.replace("_", "-"): _flag_text(value) for name, value in shown.items()}

    def _feature_gates(self) -> dict[FeatureGate, bool]:
        try:
            gates = parse_feature_gates(self.feature_gates)
            enabled_features(gates)
        except ValueError as error:
            raise CommandFailed(f"--feature-gates: {error}") from error
        return cast("dict[FeatureGate, bool]", gates)

    def _cluster(
        self, server: ApiServer, authority: CertificateAuthority | None, script: ScriptFunction | None
    ) -> Cluster:
        from pyctrl.cluster import Cluster, Kubelet

        kubelet = Kubelet(start_seconds=self.pod_start_seconds, script=script) if self.kubelet else False
        names = cast("tuple[ControllerName, ...]", self.controller_name)
        return Cluster(
            controllers=names or self.controllers,
            kubelet=kubelet,
            nodes=self.nodes,
            server=server,
            authority=authority,
        )

    def _tokens(self) -> dict[str, User] | None:
        if self.token_auth_file is None:
            return None if self._is_open else {}
        try:
            return read_token_file(_read_file("--token-auth-file", self.token_auth_file).decode().splitlines())
        except ValueError as error:
            raise CommandFailed(f"--token-auth-file {self.token_auth_file}: {error}") from error

    def _authority(self) -> CertificateAuthority | None:
        if self.insecure_http:
            self._refuse_certificates()
            return None
        directory = self.cert_dir or self.data
        return CertificateAuthority.new() if directory is None else CertificateAuthority.load_or_create(directory)

    def _refuse_certificates(self) -> None:
        """Refuse the flags about certificates of clients, which send none over HTTP."""
        named = ["--client-ca-file"] if self.client_ca_file is not None else []
        if named := named + self.front_proxy.named:
            raise CommandFailed(f"{named[0]} needs HTTPS: with --insecure-http no client has a certificate")

    def _audit_log(self, stack: AsyncExitStack) -> AuditLog:
        assert self.audit is not None
        policy = read_audit_policy(self.audit_policy_file) if self.audit_policy_file is not None else None
        try:
            file = stack.enter_context(_appended(self.audit))
        except OSError as error:
            raise CommandFailed(f"--audit {self.audit}: {error.strerror}") from error
        level = AuditLevel(self.audit_level)
        return AuditLog(file.write, level=level, policy=policy, format=self.audit_log_format)

    async def _listen(self, stack: AsyncExitStack, server: ApiServer, authority: CertificateAuthority | None) -> str:
        client_ca = _read_file("--client-ca-file", self.client_ca_file) if self.client_ca_file is not None else b""
        tls = authority.server_context([self.bind_address], client_ca=client_ca) if authority is not None else None
        if self.kubelet_port is not None:
            kubelet = serve_kubelet(server, NODE, self.bind_address, self.kubelet_port, tls)
            with self._listen_errors("--kubelet-port", self.kubelet_port):
                await stack.enter_async_context(kubelet)
        if authority is not None:
            self.front_proxy.publish(server, authority.certificate + client_ca, self.cert_dir or self.data)
        with self._listen_errors("--port", self.port):
            serving = serve(server, self.bind_address, self.port, tls, allowed_hosts=self.allowed_host)
            return await stack.enter_async_context(serving)

    @contextmanager
    def _listen_errors(self, flag: str, port: int) -> Iterator[None]:
        """Raise CommandFailed for an address at which the server cannot listen."""
        try:
            yield
        except OSError as error:
            where = f"{self.bind_address} port {port}"
            if error.errno == errno.EADDRINUSE:
                raise CommandFailed(f"{where} is in use by another program; {flag} 0 picks a free one") from error
            raise CommandFailed(f"cannot listen on {where}: {error.strerror}") from error


def _administrator(tokens: Mapping[str, User]) -> str | None:
    """Return the token of an administrator; None if there is none."""
    return next((token for token, user in tokens.items() if ADMINISTRATORS in user.groups), None)


def _read_file(flag: str, file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise CommandFailed(f"{flag} {file}: {error.strerror}") from error


def _appended(path: Path) -> FileIO:
    """Open a log file unbuffered, so that each line is written at once. Only its owner may read a new file."""
    return FileIO(path, "a", opener=lambda name, flags: os.open(name, flags, 0o600))


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def _allow_connections() -> None:
    """Raise the limit of open files to the maximum, for connections. The default is often 1024."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


async def _until_signalled(serve: Callable[[Callable[[str], None]], Coroutine[Any, Any, None]]) -> int:
    """Serve until a signal, and print the URL; see `run_until_signal`."""
    announced: list[str] = []

    def ready(url: str) -> None:
        sys.stdout.write(f"ready {url}\n")
        sys.stdout.flush()
        announced.append(url)
        gc.freeze()  # objects of the start stay: the garbage collector skips them

    return await run_until_signal(serve(ready), is_ready=lambda: announced)


def _flag_text(value: object) -> str:
    """Return the value of a flag as Go prints it."""
    if isinstance(value, tuple):
        return f"[{','.join(map(str, value))}]"
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)
