"""A kube-apiserver and the embedded server, started so that their answers can be compared."""

from __future__ import annotations

import ssl
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import yaml

from pyctrl.testing._cluster.control_plane import control_plane

TOKEN = "admin-token"
PLAIN_TOKEN = "plain-token"  # of a user without rights
USERS = f'{TOKEN},admin,admin,"system:masters"\n{PLAIN_TOKEN},plain,plain,\n'  # admin is the user of control_plane


class Login(NamedTuple):
    """The address of a server, and a token of its administrator."""

    url: str
    token: str
    ca_file: Path | None = None

    @property
    def context(self) -> ssl.SSLContext:
        """The TLS configuration of a client."""
        return ssl.create_default_context(cafile=self.ca_file)


def login_of(kubeconfig: Path) -> Login:
    """Return the login of a kubeconfig with files and a token."""
    config = yaml.safe_load(kubeconfig.read_text())
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    authority = cluster.get("certificate-authority")
    return Login(cluster["server"], user["token"], authority and Path(authority))


@contextmanager
def kube_apiserver(assets: Path) -> Iterator[Login]:
    """Run etcd and kube-apiserver, without controllers, which would change what is compared."""
    with tempfile.TemporaryDirectory() as directory:
        for name in ("etcd", "kube-apiserver"):
            (Path(directory) / name).symlink_to(assets.resolve() / name)
        with control_plane(Path(directory)) as plane:
            yield login_of(plane.kubeconfig)


@contextmanager
def embedded_server(home: Path, *flags: str) -> Iterator[Path]:
    """Run `pyctrl apiserver` with RBAC in a process of its own; yield its kubeconfig."""
    config, tokens = home / "pyctrl.kubeconfig", home / "tokens.csv"
    tokens.write_text(USERS)
    command = [sys.executable, "-m", "pyctrl", "apiserver", "--authorization-mode", "RBAC", *flags]
    command += ["--write-kubeconfig", str(config), "--token-auth-file", str(tokens)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            if not server.stdout.readline().startswith("ready "):
                raise RuntimeError("pyctrl apiserver did not start")
            yield config
        finally:
            server.terminate()
