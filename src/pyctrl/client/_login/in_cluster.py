"""Login of a pod, from the environment variables and the service account that kubelet provides.

kubernetes_asyncio's loader is not used: it costs 37 MB in each operator's pod, sends the token with its line break, and
schedules the renewal by the wall clock, which may jump.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

from pyctrl.client._login.config import Config
from pyctrl.client._login.credentials import TokenFile, read_token
from pyctrl.client._login.proxy import proxy_from_environment
from pyctrl.client._login.tls import Pem, Tls
from pyctrl.errors import ConfigError

__all__ = ["SERVICE_ACCOUNT", "in_cluster", "namespace_of"]

log = logging.getLogger("pyctrl.client")

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


def in_cluster(service_account: str | os.PathLike[str] | None = None) -> Config:
    """Return the login of this pod's service account. Raises ConfigError if this is no pod, or none is mounted."""
    directory = Path(service_account or SERVICE_ACCOUNT)
    server = _server()
    token = directory / "token"
    return Config(
        server=server,
        namespace=namespace_of(directory),
        tls=Tls(ca=_authority(directory / "ca.crt")),
        credentials=TokenFile(token, token=read_token(token, "the service account's token")),
        proxy=proxy_from_environment(server),
        source=f"the service account in {directory}",
    )


def _server() -> str:
    host, port = os.environ.get("KUBERNETES_SERVICE_HOST"), os.environ.get("KUBERNETES_SERVICE_PORT")
    if not host or not port:
        raise ConfigError("this is not a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set")
    return f"https://{f'[{host}]' if ':' in host else host}:{port}"


def _authority(path: Path) -> Pem | None:
    if not path.exists():  # as in client-go: clusters with a public certificate mount none
        log.warning(
            "No certificate authority is mounted with the service account, trusting the system's",
            extra={"path": str(path)},
        )
        return None
    pem = Pem(f"the cluster's authority {path}", path=path)
    Tls(ca=pem).build()
    return pem


def namespace_of(directory: Path) -> str:
    """Return the namespace of this pod."""
    named = os.environ.get("POD_NAMESPACE")  # from the downward API; client-go reads it first, too
    if named:
        return named
    try:
        return (directory / "namespace").read_text(encoding="utf-8").strip() or "default"
    except OSError:
        return "default"
