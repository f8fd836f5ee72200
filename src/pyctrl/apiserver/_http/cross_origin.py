"""Cross-origin protection of a server without TLS: refuses requests of web pages.

A page of any site can send requests to 127.0.0.1, and can read the responses if its own name resolves to that address
(DNS rebinding). kube-apiserver has no such check: it serves HTTPS only and grants nothing to a client without
credentials. Programs such as kubectl name the server by its address and send none of the headers that browsers add.
"""

from __future__ import annotations

from collections.abc import Collection
from ipaddress import ip_address
from urllib.parse import urlsplit

from pyctrl.apiserver._errors import status_error
from pyctrl.apiserver._http.head import RequestHead

__all__ = ["CrossOriginProtection"]

_SAME_SITE = ("same-origin", "none")  # Sec-Fetch-Site: the server's own page, or the address bar
_LOCAL = "localhost"


class CrossOriginProtection:
    """Refuses requests that a browser sends for a page of another origin.

    Args:
        hosts: Names of the server besides `localhost` and IP addresses.
    """

    def __init__(self, hosts: Collection[str]) -> None:
        self._hosts = frozenset(host.lower() for host in hosts)

    def check(self, head: RequestHead) -> None:
        """Check one request.

        Raises:
            StatusError: 403, the Host header is not a name of the server, or the request has another origin.
        """
        host = head.headers.get("host", "")
        if host and not self._is_own(_name(host)):
            why = "it may be the name of a web page; use an IP address, or allow the name"
            raise status_error(403, "Forbidden", f"forbidden: the Host header {host!r} is not allowed: {why}")
        origin = head.headers.get("origin")
        if origin is not None and _authority(origin) != host.lower():
            raise status_error(
                403, "Forbidden", f"forbidden: requests of web pages are refused; the origin is {origin!r}"
            )
        site = head.headers.get("sec-fetch-site", "none")
        if site not in _SAME_SITE and not _is_link(head):
            raise status_error(
                403, "Forbidden", f"forbidden: requests of web pages are refused; Sec-Fetch-Site is {site}"
            )

    def _is_own(self, name: str) -> bool:
        if name == _LOCAL or name.endswith(f".{_LOCAL}") or name in self._hosts:
            return True
        try:
            ip_address(name)
        except ValueError:
            return False
        return True


def _name(host: str) -> str:
    """Return a host without port, brackets and final dot."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].rstrip(".").lower()


def _authority(origin: str) -> str:
    """Return host and port of an origin; "" for `null`, the origin of sandboxed pages."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _is_link(head: RequestHead) -> bool:
    """Return whether a link to the server was followed: it changes nothing, and the page cannot read the response."""
    return head.method == "GET" and head.headers.get("sec-fetch-mode") == "navigate"
