"""Flags of kube-apiserver for its aggregator: how it proves itself to extension API servers, and what they trust."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pyctrl.apiserver import ClusterAuthenticationInfo, KeyPair, RequestHeaderInfo
from pyctrl.errors import CommandFailed

if TYPE_CHECKING:
    from pyctrl.cli._envtest.kube_apiserver_flags import Flags

__all__ = ["FRONT_PROXY_FLAGS", "authentication_info", "proxy_client"]

FRONT_PROXY_FLAGS = (
    "proxy-client-cert-file",
    "proxy-client-key-file",
    "requestheader-allowed-names",
    "requestheader-client-ca-file",
    "requestheader-extra-headers-prefix",
    "requestheader-group-headers",
    "requestheader-uid-headers",
    "requestheader-username-headers",
)


def authentication_info(flags: Flags) -> ClusterAuthenticationInfo:
    """Return what extension API servers need to authenticate users; without the flags it is empty.

    Raises:
        CommandFailed: A file cannot be read.
    """
    return ClusterAuthenticationInfo(client_ca=_read(flags, "client-ca-file"), request_header=_request_header(flags))


def _request_header(flags: Flags) -> RequestHeaderInfo | None:
    if not flags.text("requestheader-client-ca-file"):
        return None
    return RequestHeaderInfo(
        client_ca=_read(flags, "requestheader-client-ca-file"),
        allowed_names=flags.items("requestheader-allowed-names"),
        username_headers=flags.items("requestheader-username-headers"),
        uid_headers=flags.items("requestheader-uid-headers"),
        group_headers=flags.items("requestheader-group-headers"),
        extra_header_prefixes=flags.items("requestheader-extra-headers-prefix"),
    )


def proxy_client(flags: Flags) -> KeyPair | None:
    """Return the client certificate of the aggregator; None if there is none.

    Raises:
        CommandFailed: A file is missing, or cannot be read.
    """
    names = "proxy-client-cert-file", "proxy-client-key-file"
    named = [name for name in names if flags.text(name)]
    if not named:
        return None
    if len(named) < len(names):
        missing = next(name for name in names if name not in named)
        raise CommandFailed(f"--{named[0]} needs --{missing}")
    return KeyPair(*(_read(flags, name) for name in names))


def _read(flags: Flags, name: str) -> bytes:
    path = flags.text(name)
    if not path:
        return b""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise CommandFailed(f"--{name} {path}: {error.strerror}") from error
