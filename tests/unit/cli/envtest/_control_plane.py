"""kube-apiserver of `pyctrl envtest` as a process, started as Go's envtest does: with its flags and certificates."""

from __future__ import annotations

import select
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pyctrl.apiserver import CertificateAuthority
from tests.unit.cli._command import PATIENCE, Served

POLL_SECONDS = 0.02  # kube-apiserver does not tell when it listens, so that envtest polls it too


def free_port() -> int:
    """Return a free port, as envtest suggests one."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def write_certificates(directory: Path) -> CertificateAuthority:
    """Write the serving certificate and the authority of clients; return that authority."""
    authority = CertificateAuthority.new()
    serving = authority.server()
    (directory / "apiserver.crt").write_bytes(serving.certificate)
    (directory / "apiserver.key").write_bytes(serving.key)
    (directory / "client-cert-auth-ca.crt").write_bytes(authority.certificate)
    return authority


def flags_of_envtest(directory: Path, port: int) -> list[str]:
    """Return the flags that controller-runtime 0.24 passes."""
    return [
        "--allow-privileged=true",
        "--authorization-mode=RBAC",
        "--bind-address=127.0.0.1",
        f"--cert-dir={directory}",
        f"--client-ca-file={directory / 'client-cert-auth-ca.crt'}",
        "--disable-admission-plugins=ServiceAccount",
        "--etcd-servers=http://127.0.0.1:2379",
        f"--secure-port={port}",
        f"--service-account-issuer=https://127.0.0.1:{port}/",
        f"--service-account-key-file={directory / 'sa-signer.crt'}",
        f"--service-account-signing-key-file={directory / 'sa-signer.key'}",
        "--service-cluster-ip-range=10.0.0.0/24",
    ]


@contextmanager
def listening(binary: Path, arguments: Sequence[str], port: int, scheme: str = "https") -> Iterator[Served]:
    """Run a program until the end of the block, which begins when it listens."""
    with subprocess.Popen([binary, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            while not _listens(port):
                assert process.poll() is None, process.communicate(timeout=PATIENCE)[1]
                select.select([], [], [], POLL_SECONDS)
            yield Served(process, f"{scheme}://127.0.0.1:{port}")
        finally:
            process.kill()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
