"""Flags of `pyctrl apiserver` for the certificate with which it calls extension API servers, as in kube-apiserver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Group, Parameter

from pyctrl.errors import CommandFailed

if TYPE_CHECKING:
    from pyctrl.apiserver import ApiServer

__all__ = ["FrontProxyFlags"]

AGGREGATOR = Group("Extension API servers", sort_key=2.7)

_File = Annotated[Path | None, Parameter(group=AGGREGATOR, metavar="FILE")]
_Names = Annotated[tuple[str, ...], Parameter(group=AGGREGATOR, metavar="NAME")]

_CERTIFICATE, _KEY = "--proxy-client-cert-file", "--proxy-client-key-file"
_AUTHORITY = "--requestheader-client-ca-file"


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class FrontProxyFlags:
    """The certificate with which the server calls extension API servers, and what they trust."""

    proxy_client_cert_file: _File = None
    """The client certificate with which requests are proxied to extension API servers. By default the server makes an
    authority, and one."""
    proxy_client_key_file: _File = None
    """Its key."""
    requestheader_client_ca_file: _File = None
    """The authority of this certificate, which extension API servers trust."""
    requestheader_allowed_names: _Names = ()
    """A common name of this certificate, repeatable; by default any name is trusted."""

    def publish(self, server: ApiServer, client_ca: bytes, directory: Path | None) -> None:
        """Publish the authorities of users and of the front proxy, and set the certificate of the aggregator.

        Args:
            client_ca: the authorities of users.
            directory: where the authority that the server makes is stored.

        Raises:
            CommandFailed: a flag is missing, or a file cannot be read.
        """
        from pyctrl.apiserver import (  # here: help and completion need none of it
            CertificateAuthority,
            ClusterAuthenticationInfo,
            KeyPair,
            RequestHeaderInfo,
        )

        files = self._files()
        if files is not None:
            authority, certificate, key = files
            header = RequestHeaderInfo(client_ca=authority, allowed_names=self.requestheader_allowed_names)
            proxy_client = KeyPair(certificate, key)
        else:
            front_proxy = (
                CertificateAuthority.new_front_proxy()
                if directory is None
                else CertificateAuthority.load_or_create_front_proxy(directory)
            )
            header = RequestHeaderInfo(client_ca=front_proxy.certificate)
            proxy_client = front_proxy.front_proxy_client()
        info = ClusterAuthenticationInfo(client_ca=client_ca, request_header=header)
        server.publish_authentication(info, proxy_client=proxy_client)

    @property
    def named(self) -> list[str]:
        """The flags of files that were given."""
        return [flag for flag, path in self._paths.items() if path is not None]

    @property
    def _paths(self) -> Mapping[str, Path | None]:
        return {
            _AUTHORITY: self.requestheader_client_ca_file,
            _CERTIFICATE: self.proxy_client_cert_file,
            _KEY: self.proxy_client_key_file,
        }

    def _files(self) -> tuple[bytes, bytes, bytes] | None:
        """Return the contents of the files; None without any of them."""
        paths, named = self._paths, self.named
        if not named:
            return None
        if missing := [flag for flag in paths if flag not in named]:
            raise CommandFailed(f"{named[0]} needs {' and '.join(missing)}")
        authority, certificate, key = (_read(flag, path) for flag, path in paths.items() if path is not None)
        return authority, certificate, key


def _read(flag: str, file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise CommandFailed(f"{flag} {file}: {error.strerror}") from error
