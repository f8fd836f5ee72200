"""Authentication by headers of a proxy: the users that kube-apiserver's aggregator forwards.

An extension API server trusts the headers `X-Remote-User`, `X-Remote-Group` and `X-Remote-Extra-…` only from a client
with a certificate that the request header CA issued for one of the allowed names. Other clients authenticate with a
certificate of the cluster's client CA, or with a token.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Protocol
from urllib.parse import unquote

from pyctrl.apiserver._errors import unauthorized
from pyctrl.apiserver._user import Peer, User, add_authenticated_group

__all__ = [
    "FRONT_PROXY",
    "REPEATED",
    "DelegatingRequestAuthenticator",
    "RequestAuthenticator",
    "RequestHeaderConfig",
]

REPEATED: Final = "\n"  # separates the values of a repeated header

#: The user of the `Peer` with which an aggregator in the same process, which needs no certificate, forwards requests.
FRONT_PROXY: Final = User(name="front-proxy-client")


class RequestAuthenticator(Protocol):
    """Authenticates requests by their headers and the certificate of their connection."""

    def authenticate_request(self, headers: Mapping[str, str], peer: Peer | None) -> User | None:
        """Return the user of a request; None if it has neither trusted headers nor a trusted certificate.

        Args:
            headers: The headers by name in lower case. `REPEATED` separates the values of those that `is_repeated`.

        Raises:
            StatusError: 401, the request has a certificate that authenticates no user, and no token.
        """
        ...

    def is_repeated(self, name: str) -> bool:
        """Return whether all values of a header count, by its name in lower case."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestHeaderConfig:
    """The headers of a proxy, and who may send them: kube-apiserver's ``--requestheader-*`` flags.

    Attributes:
        client_ca: The CA of the proxy's certificate, as PEM; empty trusts no certificate.
        allowed_names: Common names of the certificate; empty for any.
        username_headers: Headers with the user name; the first that is set counts.
        uid_headers: Headers with the uid.
        group_headers: Headers with the groups, which may be repeated.
        extra_header_prefixes: Prefixes of headers with extra values.
    """

    client_ca: bytes = b""
    allowed_names: tuple[str, ...] = ()
    username_headers: tuple[str, ...] = ("X-Remote-User",)
    uid_headers: tuple[str, ...] = ("X-Remote-Uid",)
    group_headers: tuple[str, ...] = ("X-Remote-Group",)
    extra_header_prefixes: tuple[str, ...] = ("X-Remote-Extra-",)


class DelegatingRequestAuthenticator:
    """Authenticates requests of the aggregator by headers, and others by certificates of the cluster's client CA.

    Both CAs may change at any time: set `request_header` and `client_ca`. Only certificates that one of the CAs has
    issued directly count, without intermediate CAs.
    """

    def __init__(self) -> None:
        #: By default only an aggregator in the same process is trusted, see `FRONT_PROXY`.
        self.request_header: RequestHeaderConfig = RequestHeaderConfig()
        #: The CA of client certificates as PEM; empty trusts none.
        self.client_ca: bytes = b""

    def authenticate_request(self, headers: Mapping[str, str], peer: Peer | None) -> User | None:
        """Return the user of a request; None if it has neither trusted headers nor a trusted certificate.

        Raises:
            StatusError: 401, the request has a certificate that authenticates no user, and no token.
        """
        if peer is None or peer.user is None:
            return None
        config = self.request_header
        if _is_trusted(peer, config) and (user := _forwarded_user(headers, config)):
            return user
        if peer.certificate and self.client_ca and _is_issued_by(peer.certificate, self.client_ca):
            return peer.user
        if not headers.get("authorization"):
            raise unauthorized()
        return None

    def is_repeated(self, name: str) -> bool:
        """Return whether all values of a header count, by its name in lower case."""
        config = self.request_header
        return name in _lowered(config.group_headers) or name.startswith(_lowered(config.extra_header_prefixes))


def _is_trusted(peer: Peer, config: RequestHeaderConfig) -> bool:
    """Return whether the client is the proxy."""
    assert peer.user is not None  # checked by the caller
    if peer.user is FRONT_PROXY:
        return True
    is_allowed = not config.allowed_names or peer.user.name in config.allowed_names
    return is_allowed and bool(peer.certificate) and _is_issued_by(peer.certificate, config.client_ca)


def _forwarded_user(headers: Mapping[str, str], config: RequestHeaderConfig) -> User | None:
    name = _first(headers, config.username_headers)
    if not name:
        return None
    groups = [
        value for header in _lowered(config.group_headers) for value in headers.get(header, "").split(REPEATED) if value
    ]
    uid = _first(headers, config.uid_headers)
    user = User(name=name, uid=uid, groups=tuple(groups), extra=dict(_extra(headers, config)))
    return add_authenticated_group(user)


def _extra(headers: Mapping[str, str], config: RequestHeaderConfig) -> Iterator[tuple[str, tuple[str, ...]]]:
    for prefix in _lowered(config.extra_header_prefixes):
        for header, values in headers.items():
            if header.startswith(prefix):
                yield unquote(header.removeprefix(prefix)), tuple(values.split(REPEATED))


def _first(headers: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((value for name in _lowered(names) if (value := headers.get(name, ""))), "")


@lru_cache(maxsize=64)
def _lowered(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name.lower() for name in names)


@lru_cache(maxsize=256)  # a connection has many requests
def _is_issued_by(certificate: bytes, authorities: bytes) -> bool:
    from pyctrl._certificates import is_issued_by  # here: cryptography is an extra

    return is_issued_by(certificate, authorities)
