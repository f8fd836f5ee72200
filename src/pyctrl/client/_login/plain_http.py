"""Warnings about credentials over plain HTTP."""

from __future__ import annotations

import ipaddress
import logging
from urllib.parse import urlsplit

__all__ = ["is_readable", "warn_of_sent_credentials", "warn_of_withheld_credentials"]

log = logging.getLogger("pyctrl.client")

_warned: set[str] = set()  # servers; a login is loaded and used many times


def is_readable(server: str, proxy: str | None) -> bool:
    """Return True if others can read the requests to a server: plain HTTP that leaves this machine.

    Loopback does not count, because `kubectl proxy`, `pyctrl dev` and servers of tests use it, unless there is a proxy.
    """
    parts = urlsplit(server)
    return parts.scheme == "http" and (proxy is not None or not _is_loopback(parts.hostname or ""))


def warn_of_withheld_credentials(server: str, credentials: object, source: str) -> None:
    """Warn once for each server that the credentials of a kubeconfig are not used."""
    fields = {"source": source, "credentials": str(credentials), "help": "set https:// in the server of the kubeconfig"}
    _warn("Server uses plain HTTP, not sending the credentials of the kubeconfig", server, fields)


def warn_of_sent_credentials(server: str, credentials: object) -> None:
    """Warn once for each server that credentials are sent in clear text."""
    fields = {"credentials": str(credentials), "help": "use https://"}
    _warn("Sending credentials over plain HTTP, where others can read them", server, fields)


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
