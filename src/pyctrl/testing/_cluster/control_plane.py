"""Control plane from binaries: etcd, kube-apiserver and, if present, kube-controller-manager.

The binaries are in the directory of `KUBEBUILDER_ASSETS`, as for Go's envtest. This module makes everything else: free
loopback ports, certificates, an administrator's token, a kubeconfig. There is no kubelet, no scheduler and no volume
provisioner: pods stay Pending unless the test simulates these.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
import ssl
import subprocess
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import aiohttp
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from pyctrl.apiserver import CertificateAuthority

__all__ = ["ControlPlane", "ControlPlaneFailed", "control_plane", "write_serving_certificate", "write_signing_key"]


START_SECONDS = 60.0  # until a program must be ready; kube-apiserver takes 4 to 10 on two cores
STOP_SECONDS = 15.0  # from SIGTERM to SIGKILL; kube-apiserver drains for a few seconds
POLL_SECONDS = 0.1  # between readiness checks
LOG_LINES = 15  # shown of a program that failed
#: Starts, each with other ports. A program cannot inherit its socket, so that another one may take a free port first.
TRIES = 3
PORT_IN_USE = "address already in use"  # in the last lines of etcd and kube-apiserver


class ControlPlaneFailed(Exception):
    """Raised when a program of the control plane does not start or exits early; the message has the end of its log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlane:
    """A running control plane, and its administrator's login."""

    url: str
    ca_file: Path
    token: str = field(repr=False)
    kubeconfig: Path
    has_controllers: bool


@contextmanager
def control_plane(assets: Path, *, apiserver_flags: Sequence[str] = ()) -> Iterator[ControlPlane]:
    """Run the binaries in ``assets`` until the block ends.

    Starting blocks for some ten seconds: call it outside of an event loop, for example in a session fixture.

    Args:
        assets: the directory of the binaries.
        apiserver_flags: additional flags of kube-apiserver, as ``--name=value``. They replace default ones such as
            ``--authorization-mode``.

    Raises:
        ControlPlaneFailed: a binary is missing, or a program did not become ready.
    """
    for name in ("etcd", "kube-apiserver"):
        if not (assets / name).is_file():
            raise ControlPlaneFailed(f"there is no {name} in {assets}, the directory of KUBEBUILDER_ASSETS")
    with (
        TemporaryDirectory(prefix="pyctrl-control-plane-", ignore_cleanup_errors=True) as directory,
        ExitStack() as stack,
    ):
        yield _start_at_free_ports(stack, assets, Path(directory), apiserver_flags)


def _start_at_free_ports(stack: ExitStack, assets: Path, home: Path, more_flags: Sequence[str]) -> ControlPlane:
    """Start the programs; start all of them again if one finds its port in use."""
    for number in range(1, TRIES + 1):
        with ExitStack() as attempt:
            place = home / str(number)
            place.mkdir()
            try:
                plane = _start(attempt, assets, place, more_flags)
            except ControlPlaneFailed as error:
                if number == TRIES or PORT_IN_USE not in str(error):
                    raise
            else:
                stack.push(attempt.pop_all())
                return plane
    raise AssertionError("unreachable: the last try returns or raises")


def _start(stack: ExitStack, assets: Path, home: Path, more_flags: Sequence[str]) -> ControlPlane:
    """Start the programs in order. The stack stops them in reverse order."""
    etcd_port, peer_port, port = _free_ports(3)
    plane = ControlPlane(
        url=f"https://127.0.0.1:{port}",
        ca_file=home / "ca.crt",
        token=secrets.token_urlsafe(24),
        kubeconfig=home / "kubeconfig",
        has_controllers=(assets / "kube-controller-manager").is_file(),
    )
    _write_files(plane, home)
    etcd = stack.enter_context(_running(assets / "etcd", _etcd_flags(home, etcd_port, peer_port), home))
    flags = _with(_server_flags(plane, home, etcd_port, port), more_flags)
    server = stack.enter_context(_running(assets / "kube-apiserver", flags, home))
    asyncio.run(_until([etcd, server], lambda: _is_ready(plane)))
    if plane.has_controllers:
        manager = assets / "kube-controller-manager"
        controllers = stack.enter_context(_running(manager, _controller_flags(plane, home), home))
        asyncio.run(_until([etcd, server, controllers], lambda: _has_default_service_account(plane)))
    return plane


def _etcd_flags(home: Path, port: int, peer_port: int) -> list[str]:
    client, peer = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{peer_port}"
    return [
        f"--data-dir={home / 'etcd'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        "--unsafe-no-fsync",  # the data is not used after the session
    ]


def _server_flags(plane: ControlPlane, home: Path, etcd_port: int, port: int) -> list[str]:
    flags = [
        f"--etcd-servers=http://127.0.0.1:{etcd_port}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        f"--secure-port={port}",
        f"--tls-cert-file={home / 'serving.crt'}",
        f"--tls-private-key-file={home / 'serving.key'}",
        f"--token-auth-file={home / 'tokens.csv'}",
        "--authorization-mode=RBAC",
        "--enable-admission-plugins=OwnerReferencesPermissionEnforcement",  # as in the embedded cluster with RBAC
        "--service-cluster-ip-range=10.0.0.0/24",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={home / 'service-accounts.key'}",
        f"--service-account-signing-key-file={home / 'service-accounts.key'}",
        "--allow-privileged=true",
        "--endpoint-reconciler-type=none",  # no endpoints of the service `kubernetes`: 127.0.0.1 is invalid
    ]
    if not plane.has_controllers:
        # No controller makes default service accounts, without which this plugin rejects every pod.
        flags.append("--disable-admission-plugins=ServiceAccount")
    return flags


def _with(flags: Sequence[str], more: Sequence[str]) -> list[str]:
    """Add flags, replacing those of the same name: kube-apiserver appends repeated list flags."""
    replaced = {flag.partition("=")[0] for flag in more}
    return [*(flag for flag in flags if flag.partition("=")[0] not in replaced), *more]


def _controller_flags(plane: ControlPlane, home: Path) -> list[str]:
    return [
        f"--kubeconfig={plane.kubeconfig}",
        "--use-service-account-credentials=true",
        f"--service-account-private-key-file={home / 'service-accounts.key'}",
        f"--root-ca-file={plane.ca_file}",
        "--leader-elect=false",
        "--secure-port=0",
    ]


def _write_files(plane: ControlPlane, home: Path) -> None:
    write_serving_certificate(home)
    write_signing_key(home / "service-accounts.key")
    (home / "tokens.csv").write_text(f'{plane.token},admin,admin,"system:masters"\n')
    cluster = {"server": plane.url, "certificate-authority": str(plane.ca_file)}
    kubeconfig = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": cluster}],
        "users": [{"name": "admin", "user": {"token": plane.token}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin"}}],
        "current-context": "test",
    }
    plane.kubeconfig.write_text(json.dumps(kubeconfig))  # JSON is YAML


@dataclass(frozen=True, slots=True)
class _Process:
    process: subprocess.Popen[bytes]
    log: Path

    def failed(self, how: str) -> ControlPlaneFailed:
        tail = "\n  ".join(self.log.read_text(errors="replace").splitlines()[-LOG_LINES:])
        return ControlPlaneFailed(f"{self.log.stem} {how}; its log ends with\n  {tail}")


@contextmanager
def _running(binary: Path, flags: Sequence[str], home: Path) -> Iterator[_Process]:
    log = home / f"{binary.name}.log"
    with log.open("wb") as output:
        process = subprocess.Popen([binary, *flags], cwd=home, stdout=output, stderr=subprocess.STDOUT)
    try:
        yield _Process(process, log)
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


async def _until(programs: Sequence[_Process], is_ready: Callable[[], Awaitable[bool]]) -> None:
    """Wait until the last program is ready, while all of them run."""
    try:
        async with asyncio.timeout(START_SECONDS):
            while not await is_ready():
                for program in programs:
                    if (code := program.process.poll()) is not None:
                        raise program.failed(f"ended with code {code}")
                await asyncio.sleep(POLL_SECONDS)
    except TimeoutError:
        raise programs[-1].failed(f"was not ready after {START_SECONDS:.0f} s") from None


async def _is_ready(plane: ControlPlane) -> bool:
    return await _status_of(plane, "/readyz") == 200


async def _has_default_service_account(plane: ControlPlane) -> bool:
    return await _status_of(plane, "/api/v1/namespaces/default/serviceaccounts/default") == 200


async def _status_of(plane: ControlPlane, path: str) -> int | None:
    context = ssl.create_default_context(cafile=plane.ca_file)
    headers = {"Authorization": f"Bearer {plane.token}"}
    try:
        async with (
            aiohttp.ClientSession(headers=headers) as session,
            session.get(plane.url + path, ssl=context) as response,
        ):
            return response.status
    except (aiohttp.ClientError, OSError):
        return None


def _free_ports(count: int) -> list[int]:
    """Return free ports."""
    with ExitStack() as stack:
        listeners = [stack.enter_context(socket.socket()) for _ in range(count)]
        for listener in listeners:
            listener.bind(("127.0.0.1", 0))
        return [int(listener.getsockname()[1]) for listener in listeners]


def write_serving_certificate(directory: Path) -> None:
    """Write ``ca.crt``, ``serving.crt`` and ``serving.key`` for 127.0.0.1 and localhost."""
    authority = CertificateAuthority.new("pyctrl test authority")
    serving = authority.server()
    (directory / "ca.crt").write_bytes(authority.certificate)
    (directory / "serving.crt").write_bytes(serving.certificate)
    _write_secret(directory / "serving.key", serving.key)


def write_signing_key(path: Path) -> None:
    """Write the key that signs service account tokens; Kubernetes reads its public key from the same file."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = serialization.PrivateFormat.TraditionalOpenSSL
    _write_secret(path, key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))


def _write_secret(path: Path, content: bytes) -> None:
    path.touch(mode=0o600)
    path.write_bytes(content)
