"""TLS options, and an SSLContext that is rebuilt when its files change.

`Tls` is an immutable value. `TlsContexts` has the state: a transport gets its context from it for each request.
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

# OpenSSL gets only these blocks: its bindings reject the non-ASCII comments of CA bundles.
_CERTIFICATES = re.compile(rb"-----BEGIN ((?:X509 |TRUSTED )?CERTIFICATE)-----.*?-----END \1-----", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Pem:
    """PEM content, as bytes or as a file that is read on each use. ``repr`` shows no content.

    ``origin`` is its name in errors: "client-key-data of user 'dev' in /home/dev/.kube/config".
    """

    origin: str
    data: bytes | None = field(default=None, repr=False)
    path: Path | None = None

    @classmethod
    def of(cls, source: str | os.PathLike[str] | bytes, origin: str) -> Self:
        """Take bytes or text with a ``-----BEGIN`` line as content, any other text as the path of a file."""
        if isinstance(source, bytes):
            return cls(origin, data=source)
        text = os.fspath(source)
        if "-----BEGIN " in text:
            return cls(origin, data=text.encode())
        return cls(f"{origin} {text}", path=Path(text))

    def read(self) -> bytes:
        """Return the content. Raises ConfigError, which names the file, if it cannot be read."""
        if self.data is not None:
            return self.data
        assert self.path is not None
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise ConfigError(f"{self.origin}: cannot read {self.path}: {error.strerror or error}") from error

    def version(self) -> Hashable:
        """Return a value that differs if the content may have changed."""
        if self.path is None:
            return self.data
        try:
            status = self.path.stat()  # follows links: kubelet updates a mounted Secret by replacing one
        except OSError:
            return None
        return (status.st_mtime_ns, status.st_size, status.st_ino)


@dataclass(frozen=True, slots=True)
class ClientCertificate:
    """A client certificate (with its chain) and its key."""

    certificate: Pem
    key: Pem

    def version(self) -> Hashable:
        """Return a value that differs if either part may have changed."""
        return (self.certificate.version(), self.key.version())

    def load_into(self, context: ssl.SSLContext) -> None:
        """Load this certificate into ``context``. Raises ConfigError, which names the invalid part."""
        certificate, key = self.certificate.read(), self.key.read()
        _parse(self.certificate, certificate)  # load_cert_chain does not tell which of the two is invalid
        with _as_file(certificate + b"\n" + key) as name:
            try:
                context.load_cert_chain(name, password=self._refuse_password)
            except ssl.SSLError as error:
                mismatch = error.reason == "KEY_VALUES_MISMATCH"
                reason = (
                    f"is not the key of {self.certificate.origin}" if mismatch else "does not parse as a private key"
                )
                raise ConfigError(f"{self.key.origin} {reason}") from error

    def _refuse_password(self) -> str:
        # Without this callback OpenSSL would prompt on the terminal and block the process.
        raise ConfigError(f"{self.key.origin} is encrypted, and a login cannot have its password; decrypt it first")


@runtime_checkable
class CertificateSource(Protocol):
    """Credentials with a client certificate of their own, as of exec plugins."""

    async def certificate(self) -> ClientCertificate | None:
        """Return the current certificate, fetched or renewed if necessary; None for no certificate."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """TLS options. Build a context with `build`, or with `TlsContexts` to follow changes of the files.

    Without ``ca`` the system's authorities are trusted. ``insecure`` trusts any certificate, and excludes ``ca``.
    ``server_name`` replaces the host of the address in SNI and in the check of the certificate.

    ``strict`` turns on the strict checks of RFC 5280. They are the default of Python 3.13, which then rejects the
    authorities of most clusters (EKS and kubeadm before 1.32 leave out the authority key identifier), while Go, and so
    kubectl, accepts them. They are off by default here. Signatures, dates and names are always checked.
    """

    ca: Pem | None = None
    certificate: ClientCertificate | None = None
    insecure: bool = False
    server_name: str | None = None
    strict: bool = False

    def __post_init__(self) -> None:
        if self.insecure and self.ca is not None:
            raise ConfigError(f"{self.ca.origin} is set, and verification is turned off as well; remove one of the two")

    @property
    def is_configured(self) -> bool:
        """True if any option is set; an address without a scheme then means https."""
        return self != Tls()

    def version(self) -> Hashable:
        """Return a value that differs if a file of these options may have changed. Reads the file system."""
        return (self.ca and self.ca.version(), self.certificate and self.certificate.version())

    def build(self, certificate: ClientCertificate | None = None) -> ssl.SSLContext:
        """Return a new context with ``certificate``, by default the one of these options. Blocks for some milliseconds.

        Raises:
            ConfigError: a file cannot be read or does not parse; the message names the file and the entry.
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
        # As in Go: an intermediate certificate in the CA bundle is trusted. Python's default from 3.13 on.
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        return context


class TlsContexts:
    """An SSLContext that is rebuilt, in a thread, when its certificates change.

    `current` checks the files at most once in 60 s, and ``source`` (exec plugins) each time, which is cheap while its
    certificate is valid. After a change there is a new context and `generation` is incremented. A change that does not
    parse, such as a certificate whose key has not been written yet, is logged and the old context stays.
    """

    def __init__(self, tls: Tls, source: CertificateSource | None = None) -> None:
        self.generation = 0
        self.source = source
        #: The current context, and the loop time until which its files need no check.
        self.context: ssl.SSLContext | None = None
        self.fresh_until = 0.0
        self._tls = tls
        self._built_from: Hashable = None
        self._certificate: ClientCertificate | None = None
        self._flight = SingleFlight()

    async def current(self) -> ssl.SSLContext:
        """Return the context for a new connection. Raises ConfigError if there has been no valid one."""
        certificate = await self.source.certificate() if self.source else None
        if self.context is None or certificate != self._certificate or self._is_check_due():
            await self._flight.run(partial(self._check, certificate))
        assert self.context is not None
        return self.context

    async def refresh(self) -> bool:
        """Check the files now, as after a 401. Return True if the context is a new one."""
        before = self.generation
        certificate = await self.source.certificate() if self.source else None
        await self._flight.run(partial(self._check, certificate))
        return self.generation != before

    def _is_check_due(self) -> bool:
        remaining = self.fresh_until - asyncio.get_running_loop().time()
        return not 0 < remaining <= RECHECK_SECONDS  # more: the clock of another loop

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
            log.warning("Changed certificates are invalid, keeping the current ones", extra={"error": str(error)})
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
        raise ConfigError(f"{pem.origin} has no certificate: expected a line '-----BEGIN CERTIFICATE-----'")
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
    """Yield the name of a temporary file for OpenSSL, which loads keys from files only.

    It is in memory where the system supports that, so that no key is written to disk and no writable /tmp is needed.
    """
    try:
        descriptor, name = os.memfd_create("pyctrl"), None
        shown = f"/proc/self/fd/{descriptor}"
    except (AttributeError, OSError):
        descriptor, name = tempfile.mkstemp(prefix="pyctrl-")  # mode 0600
        shown = name
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            yield shown
    finally:
        if name is not None:
            Path(name).unlink()
