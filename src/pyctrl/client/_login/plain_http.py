"""Credentials over plain HTTP: which connections others can read, and the warning about them."""

from __future__ import annotations

import ipaddress
import logging
from urllib.parse import urlsplit

__all__ = ["is_readable", "warn_of_sent_credentials", "warn_of_withheld_credentials"]

log = logging.getLogger("pyctrl.client")

_warned: set[str] = set()  # servers; the same login is read and connected with many times


def is_readable(server: str, proxy: str | None) -> bool:
    """Whether what is sent to a server can be read on its way: over HTTP, unless it stays on this machine.

    Loopback is left out, for `kubectl proxy`, `pyctrl dev` and servers of tests; through a proxy nothing stays here.
    """
    parts = urlsplit(server)
    return parts.scheme == "http" and (proxy is not None or not _is_loopback(parts.hostname or ""))


def warn_of_withheld_credentials(server: str, credentials: object, source: str) -> None:
    """Warn once for each server that the credentials of a kubeconfig are not used."""
    fields = {"source": source, "credentials": str(credentials), "help": "set https:// in the server of the kubeconfig"}
    _warn("The server is reached over plain HTTP, the credentials of the kubeconfig are not sent", server, fields)


def warn_of_sent_credentials(server: str, credentials: object) -> None:
    """Warn once for each server that credentials are sent in clear text."""
    fields = {"credentials": str(credentials), "help": "use https://"}
    _warn("Credentials are sent over plain HTTP, everybody on the way can read them", server, fields)


def _warn(message: str, server: str, fields: dict[str, str]) -> None:
    if server not in _warned:
        _warned.add(server)
        log.warning(message, extra={"server": server, **fields})


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
