"""Proxy of a server, chosen once, when a `Config` is made.

aiohttp would read the environment for each request (`trust_env`) in a thread, which costs 550 µs of CPU per request.
The rules are those of Go's ``net/http``, so that a program and kubectl use the same proxy.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit

from pyctrl.errors import ConfigError

__all__ = ["checked_proxy", "proxy_from_environment", "without_password"]

_PORTS = {"http": "80", "https": "443"}


def proxy_from_environment(server: str, environment: Mapping[str, str] | None = None) -> str | None:
    """Return the proxy for a server, or None: HTTPS_PROXY or HTTP_PROXY by the server's scheme, minus NO_PROXY.

    Upper case wins over lower case. ``localhost`` and loopback addresses are never proxied.
    """
    variables = os.environ if environment is None else environment
    target = urlsplit(server)
    name = f"{target.scheme}_proxy"
    value = variables.get(name.upper()) or variables.get(name)
    if not value or _is_loopback(target.hostname or ""):
        return None
    exceptions = variables.get("NO_PROXY") or variables.get("no_proxy") or ""
    if any(_matches(entry.strip().lower(), target) for entry in exceptions.split(",")):
        return None
    return checked_proxy(value, name.upper())


def checked_proxy(value: str, origin: str) -> str:
    """Return the proxy's URL, ``http://`` if it has no scheme. Raises ConfigError if it cannot be used."""
    url = value if "://" in value else f"http://{value}"
    try:
        parts = urlsplit(url)
        usable = bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        raise ConfigError(f"{origin}: {without_password(value)!r} is not the URL of a proxy") from None
    if parts.scheme not in {"http", "https"}:
        raise ConfigError(
            f"{origin}: proxies of scheme {parts.scheme!r} are not supported, only http and https; "
            "put an HTTP proxy in front of it"
        )
    if not usable:
        raise ConfigError(f"{origin}: {without_password(value)!r} has no host")
    return url


def without_password(url: str) -> str:
    """Return a URL for messages, with name and password replaced by ``…``."""
    scheme, separator, rest = url.rpartition("://")
    authority, slash, path = rest.partition("/")
    _, at, host = authority.rpartition("@")
    return f"{scheme}{separator}{'…@' if at else ''}{host}{slash}{path}"


def _matches(entry: str, target: SplitResult) -> bool:
    """Return True if a NO_PROXY entry matches: ``*``, an address, a network, or a domain, with or without a port."""
    host = (target.hostname or "").rstrip(".")
    if entry == "*":
        return True
    address = _address(host)
    if "/" in entry:
        return address is not None and _is_in_network(address, entry)
    name, port = _split_port(entry)
    if port and port != (str(target.port) if target.port else _PORTS.get(target.scheme)):
        return False
    if address is not None:
        return address == _address(name)
    if name.startswith("*."):
        name = name[1:]
    if name.startswith("."):
        return host.endswith(name)
    return bool(name) and (host == name or host.endswith(f".{name}"))


def _split_port(entry: str) -> tuple[str, str]:
    if entry.startswith("["):
        name, _, port = entry[1:].partition("]")
        return name, port.removeprefix(":")
    if entry.count(":") == 1:
        name, _, port = entry.partition(":")
        return name, port
    return entry, ""


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _is_in_network(address: ipaddress.IPv4Address | ipaddress.IPv6Address, entry: str) -> bool:
    try:
        return address in ipaddress.ip_network(entry, strict=False)
    except ValueError:
        return False


def _is_loopback(host: str) -> bool:
    address = _address(host)
    return host == "localhost" or (address is not None and address.is_loopback)
