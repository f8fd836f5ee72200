"""Certificate authority that issues the certificates of the server and of its users."""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from pyctrl.errors import ConfigError

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["FRONT_PROXY_CLIENT", "CertificateAuthority", "KeyPair", "serving_context"]

NAME = "pyctrl"  # the common name of an authority
FRONT_PROXY_NAME = "front-proxy-ca"  # this and the next are kubeadm's
FRONT_PROXY_CLIENT = "front-proxy-client"

# Names of an API server: on this machine, and inside a cluster.
NAMES = (
    "localhost",
    "127.0.0.1",
    "::1",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)


class KeyPair(NamedTuple):
    """A certificate and its private key, as PEM."""

    certificate: bytes
    key: bytes


class CertificateAuthority:
    """Issues certificates for servers and users.

    Needs the package cryptography: ``pip install 'pyctrl-runtime[apiserver]'``. The authority is valid for ten years,
    the certificates that it issues for one.

    Raises:
        ConfigError: cryptography is not installed, or the files do not contain a certificate authority.
    """

    def __init__(self, certificate: bytes, key: bytes) -> None:
        self.certificate: bytes = certificate
        """The certificate for clients to trust, as PEM."""
        self._key = key

    @classmethod
    def new(cls, name: str = NAME) -> Self:
        """Create an authority with a new key."""
        with _certificates() as made:
            return cls(*made.new_authority(name))

    @classmethod
    def new_front_proxy(cls) -> Self:
        """Create the authority of the front proxy, which is the aggregator in front of extension API servers."""
        return cls.new(FRONT_PROXY_NAME)

    @classmethod
    def load_or_create(cls, directory: Path) -> Self:
        """Load the authority from ``ca.crt`` and ``ca.key`` of a directory; create it there if they do not exist."""
        return cls._load_or_create(directory, "ca", NAME)

    @classmethod
    def load_or_create_front_proxy(cls, directory: Path) -> Self:
        """Do the same for the authority of the front proxy, in ``front-proxy-ca.crt`` and ``front-proxy-ca.key``."""
        return cls._load_or_create(directory, FRONT_PROXY_NAME, FRONT_PROXY_NAME)

    @classmethod
    def _load_or_create(cls, directory: Path, file: str, name: str) -> Self:
        certificate, key = directory / f"{file}.crt", directory / f"{file}.key"
        try:
            if certificate.exists() and key.exists():
                return cls(certificate.read_bytes(), key.read_bytes())
            with _certificates() as made:
                public, secret = made.new_authority(name)
            directory.mkdir(parents=True, exist_ok=True)
            _write_secret(key, secret)
            # Complete or absent: without the certificate, the next run creates both again.
            unfinished = directory / f".{certificate.name}.{os.getpid()}"
            unfinished.write_bytes(public)
            unfinished.replace(certificate)
        except OSError as error:
            raise ConfigError(
                f"cannot load or create a certificate authority in {directory}: {error.strerror}"
            ) from error
        return cls(public, secret)

    def server(self, names: Iterable[str] = ()) -> KeyPair:
        """Issue a certificate for these names and addresses, and for the usual names of an API server."""
        every = list(dict.fromkeys((*NAMES, *names)))
        with _certificates() as made:
            return KeyPair(*made.issue_server((self.certificate, self._key), every))

    def client(self, user: str, groups: Sequence[str] = ()) -> KeyPair:
        """Issue a client certificate for a user in these groups."""
        with _certificates() as made:
            return KeyPair(*made.issue_client((self.certificate, self._key), user, groups))

    def sign(self, request: bytes, usages: Sequence[str], lifetime: timedelta) -> bytes:
        """Issue the certificate of a PKCS#10 request in DER, as PEM.

        Args:
            usages: The usages of a CertificateSigningRequest, such as ``client auth``.

        Raises:
            ConfigError: cryptography is not installed, or the authority cannot issue the certificate.
        """
        with _certificates() as made:
            issued: bytes = made.sign_request((self.certificate, self._key), request, usages, lifetime)
        return issued

    def front_proxy_client(self) -> KeyPair:
        """Issue the client certificate of the front proxy."""
        return self.client(FRONT_PROXY_CLIENT)

    def server_context(self, names: Iterable[str] = (), *, client_ca: bytes = b"") -> ssl.SSLContext:
        """Return the TLS context of a server with these names.

        It requests client certificates but does not require them. It trusts this authority and ``client_ca``.
        """
        import tempfile  # here: it imports a lot, and servers without TLS do not need it

        issued = self.server(names)
        with tempfile.TemporaryDirectory(prefix="pyctrl-") as directory:  # OpenSSL reads keys only from files
            path = Path(directory, "serving.pem")
            _write_secret(path, issued.certificate + issued.key)
            return serving_context(path, client_ca=client_ca, authority=self.certificate)


def serving_context(
    certificate: Path, key: Path | None = None, *, client_ca: bytes = b"", authority: bytes = b""
) -> ssl.SSLContext:
    """Return the TLS context of a server with a certificate and key of files.

    It requests client certificates but does not require them. It trusts those of ``client_ca`` and ``authority``.

    Raises:
        ConfigError: A file is not what it should be.
    """
    if client_ca and b"-----BEGIN CERTIFICATE-----" not in client_ca:
        raise ConfigError("the client CA file contains no certificate: expected '-----BEGIN CERTIFICATE-----'")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key, password=_refuse_password)
    except (ssl.SSLError, ValueError) as error:
        why = getattr(error, "reason", None) or error
        raise ConfigError(f"cannot read the serving certificate {certificate} and its key: {why}") from error
    if trusted := authority + b"\n" * bool(authority) + client_ca:
        context.verify_mode = ssl.CERT_OPTIONAL
        try:
            context.load_verify_locations(cadata=trusted.decode("ascii", "replace"))
        except ssl.SSLError as error:
            raise ConfigError(f"the client CA file does not parse as certificates: {error.reason}") from error
    return context


def _refuse_password() -> str:
    raise ValueError("the key is encrypted")


@contextmanager
def _certificates() -> Iterator[ModuleType]:
    """Import `pyctrl._certificates`, which needs the package cryptography; turn its errors into `ConfigError`."""
    try:
        made = import_module("pyctrl._certificates")
    except ImportError as error:
        raise ConfigError(
            "HTTPS needs the package cryptography, which is not installed: pip install 'pyctrl-runtime[apiserver]', "
            "or serve plain HTTP (--insecure-http)"
        ) from error
    try:
        yield made
    except ValueError as error:
        raise ConfigError(f"this certificate authority cannot issue certificates: {error}") from error


def _write_secret(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
