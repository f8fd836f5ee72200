"""TLS: what to trust, what to show, and one SSLContext that follows the files it was built from.

`Tls` is a value; `TlsContexts` is the only thing here that lives: a transport asks it before a connection is made
and builds a new connector when `generation` has moved.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import ssl
import tempfile
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol, Self, runtime_checkable

from pyctrl.client._login.single_flight import SingleFlight
from pyctrl.errors import ConfigError

__all__ = ["RECHECK_SECONDS", "CertificateSource", "ClientCertificate", "Pem", "Tls", "TlsContexts"]

log = logging.getLogger("pyctrl.client")

RECHECK_SECONDS = 60.0  # of loop time; kubelet and cert-manager replace files hours before they expire

# Only the blocks are handed to OpenSSL: its bindings refuse the non-ASCII comments that CA bundles carry.
_CERTIFICATES = re.compile(rb"-----BEGIN ((?:X509 |TRUSTED )?CERTIFICATE)-----.*?-----END \1-----", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Pem:
    """PEM text, given as bytes or as a file that is read each time it is needed. ``repr`` shows no content.

    ``origin`` is how an error names it: "client-key-data of user 'dev' in /home/dev/.kube/config".
    """

    origin: str
    data: bytes | None = field(default=None, repr=False)
    path: Path | None = None

    @classmethod
    def of(cls, source: str | os.PathLike[str] | bytes, what: str) -> Self:
        """Take bytes or text with a ``-----BEGIN`` line as content, any other text as the path of a file."""
        if isinstance(source, bytes):
            return cls(what, data=source)
        text = os.fspath(source)
        if "-----BEGIN " in text:
            return cls(what, data=text.encode())
        return cls(f"{what} {text}", path=Path(text))

    def read(self) -> bytes:
        """Return the content; a file that cannot be read is a ConfigError that names it."""
        if self.data is not None:
            return self.data
        assert self.path is not None
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise ConfigError(f"{self.origin}: cannot read {self.path}: {error.strerror or error}") from error

    def version(self) -> Hashable:
        """Return a value that differs once the content may have changed."""
        if self.path is None:
            return self.data
        try:
            status = self.path.stat()  # follows links: a mounted secret changes by swapping one
        except OSError:
            return None
        return (status.st_mtime_ns, status.st_size, status.st_ino)


@dataclass(frozen=True, slots=True)
class ClientCertificate:
    """A certificate (with its chain) and its key: what this side shows in the handshake."""

    certificate: Pem
    key: Pem

    def version(self) -> Hashable:
        """Return a value that differs once either part may have changed."""
        return (self.certificate.version(), self.key.version())

    def load_into(self, context: ssl.SSLContext) -> None:
        """Make ``context`` show this certificate. Raises ConfigError that says which part is wrong."""
        certificate, key = self.certificate.read(), self.key.read()
        _parse(self.certificate, certificate)  # load_cert_chain does not tell which of the two is wrong
        with _as_file(certificate + b"\n" + key) as name:
            try:
                context.load_cert_chain(name, password=self._refuse_password)
            except ssl.SSLError as error:
                mismatch = error.reason == "KEY_VALUES_MISMATCH"
                why = f"is not the key of {self.certificate.origin}" if mismatch else "does not parse as a private key"
                raise ConfigError(f"{self.key.origin} {why}") from error

    def _refuse_password(self) -> str:
        # Without this OpenSSL would ask on the terminal and stop the process until somebody types.
        raise ConfigError(f"{self.key.origin} is encrypted; a login has no place for its password: decrypt it first")


@runtime_checkable
class CertificateSource(Protocol):
    """Credentials that bring a client certificate of their own, as exec plugins may."""

    async def certificate(self) -> ClientCertificate | None:
        """Return the certificate to show now, fetching or renewing it if need be; None for none."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """What to trust and what to show. A value: build contexts with `build`, or let `TlsContexts` follow the files.

    Without ``ca`` the system's authorities are trusted. ``insecure`` trusts everybody, and excludes ``ca``.
    ``server_name`` is the name that is asked for and checked instead of the host of the address.

    ``strict`` asks for RFC 5280 to the letter. Python 3.13 made that its default, and then refuses authorities that
    most clusters use (EKS and kubeadm before 1.32 leave out the authority key identifier), while Go, hence kubectl,
    takes them. So it is off here unless asked for; signatures, dates and names are checked either way.
    """

    ca: Pem | None = None
    certificate: ClientCertificate | None = None
    insecure: bool = False
    server_name: str | None = None
    strict: bool = False

    def __post_init__(self) -> None:
        if self.insecure and self.ca is not None:
            raise ConfigError(
                f"{self.ca.origin} is given, and verification is switched off as well: remove one of the two"
            )

    @property
    def is_configured(self) -> bool:
        """True if anything here was set: an address without a scheme then means https."""
        return self != Tls()

    def version(self) -> Hashable:
        """Return a value that differs once a file behind this may have changed. Touches the disk."""
        return (self.ca and self.ca.version(), self.certificate and self.certificate.version())

    def build(self, certificate: ClientCertificate | None = None) -> ssl.SSLContext:
        """Build a context, showing ``certificate`` if given and our own otherwise. Blocks for some milliseconds.

        Raises:
            ConfigError: something cannot be read or does not parse; names the file and the entry.
        """
        context = self._verifying()
        shown = certificate or self.certificate
        if shown is not None:
            shown.load_into(context)
        return context

    def _verifying(self) -> ssl.SSLContext:
        context = ssl.create_default_context() if self.ca is None else _trusting_only(self.ca)
        if self.insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if self.strict:
            context.verify_flags |= ssl.VERIFY_X509_STRICT
        else:
            context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        # As Go does it: an intermediate that is listed as an authority is one. Python has it from 3.13 on.
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        return context


class TlsContexts:
    """One SSLContext that is as new as its certificates, built off the loop.

    `current` looks at the files at most once in 60 s, and asks ``source`` (exec plugins) each time, which costs
    nothing while its certificate is good. When something changed, the context is a new one and `generation` is one
    higher: connections made with the old one should be closed once they are idle. A change that does not parse, such
    as a certificate whose key has not been written yet, is logged and the old context stays.
    """

    def __init__(self, tls: Tls, source: CertificateSource | None = None) -> None:
        self.generation = 0
        self.source = source
        #: The context that was built last, and the loop time until which its files need no check.
        self.context: ssl.SSLContext | None = None
        self.fresh_until = 0.0
        self._tls = tls
        self._built_from: Hashable = None
        self._certificate: ClientCertificate | None = None
        self._flight = SingleFlight()

    async def current(self) -> ssl.SSLContext:
        """Return the context to connect with. Raises ConfigError if there is none that works."""
        certificate = await self.source.certificate() if self.source else None
        if self.context is None or certificate != self._certificate or self._is_check_due():
            await self._flight.run(partial(self._check, certificate))
        assert self.context is not None
        return self.context

    async def refresh(self) -> bool:
        """Look at the files now, as after a 401; True if the context is a new one."""
        before = self.generation
        certificate = await self.source.certificate() if self.source else None
        await self._flight.run(partial(self._check, certificate))
        return self.generation != before

    def _is_check_due(self) -> bool:
        remaining = self.fresh_until - asyncio.get_running_loop().time()
        return not 0 < remaining <= RECHECK_SECONDS  # more: another loop, whose clock starts elsewhere

    async def _check(self, certificate: ClientCertificate | None) -> None:
        self.fresh_until = asyncio.get_running_loop().time() + RECHECK_SECONDS
        self._certificate = certificate
        version = (self._tls.version(), certificate and certificate.version())
        if self.context is not None and version == self._built_from:
            return
        try:
            context = await asyncio.to_thread(self._tls.build, certificate)  # 20 ms with the system's authorities
        except ConfigError as error:
            if self.context is None:
                raise
            log.warning("new certificates cannot be used, the old ones stay", extra={"error": str(error)})
            return
        self.context, self._built_from = context, version
        self.generation += 1


def _trusting_only(ca: Pem) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cadata=_certificates(ca, ca.read()))
    except (ssl.SSLError, ValueError) as error:
        raise _does_not_parse(ca, error) from error


def _certificates(pem: Pem, content: bytes) -> str:
    blocks = [match.group(0).decode("ascii", "replace") for match in _CERTIFICATES.finditer(content)]
    if not blocks:
        raise ConfigError(f"{pem.origin} holds no certificate: a line '-----BEGIN CERTIFICATE-----' was expected")
    return "\n".join(blocks)


def _does_not_parse(pem: Pem, error: Exception) -> ConfigError:
    reason = error.reason.replace("_", " ").lower() if isinstance(error, ssl.SSLError) and error.reason else str(error)
    return ConfigError(f"{pem.origin} does not parse as a certificate: {reason}")


def _parse(pem: Pem, content: bytes) -> None:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=_certificates(pem, content))
    except (ssl.SSLError, ValueError) as error:
        raise _does_not_parse(pem, error) from error


@contextlib.contextmanager
def _as_file(content: bytes) -> Iterator[str]:
    """Give the bytes a name for OpenSSL, which loads keys from files only, and take it away again.

    In memory where the system can: then no key touches a disk, and a container without a writable /tmp works too.
    """
    try:
        descriptor, name = os.memfd_create("pyctrl"), None
        shown = f"/proc/self/fd/{descriptor}"
    except (AttributeError, OSError):
        descriptor, name = tempfile.mkstemp(prefix="pyctrl-")  # 0600, and ours alone
        shown = name
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            yield shown
    finally:
        if name is not None:
            Path(name).unlink()
