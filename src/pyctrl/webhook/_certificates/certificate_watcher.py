"""The serving certificate, loaded from files and reloaded when they change."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from pyctrl.errors import ConfigError

__all__ = ["ServingCertificate"]

log = logging.getLogger("pyctrl.webhook.certificate")

POLL_SECONDS = 10.0  # controller-runtime's


class ServingCertificate:
    """A certificate and its key in two files, as a TLS context that follows changes.

    Only the contents of the files count, not when or how they changed: the symlink swap by which the kubelet renews a
    mounted Secret is a change like any other. If the files do not match or cannot be read, the previous certificate
    stays in use. Open connections continue.
    """

    def __init__(
        self, certificate: Path, key: Path, *, client_ca: Path | None = None, owner: str = "the webhook server"
    ) -> None:
        """Set the files; nothing is read yet.

        Args:
                certificate: PEM of the certificate, followed by intermediate certificates.
                key: PEM of its key, not encrypted.
                client_ca: PEM of CA certificates; if set, clients need a certificate signed by one of them.
                owner: owner of the certificate in messages.
        """
        self._owner = owner
        self._certificate = certificate
        self._key = key
        self._client_ca = client_ca
        self._files = [certificate, key] if client_ca is None else [certificate, key, client_ca]
        self._trusted = b""
        self._content: tuple[bytes, ...] | None = None
        self._in_use: ssl.SSLContext | None = None
        self._read_error = ""
        #: Number of reads and of failed reads; exposed under controller-runtime's metric names.
        self.reads: int = 0
        self.failed_reads: int = 0

    @property
    def read_error(self) -> str:
        """Why the last read of the files failed; "" if it succeeded."""
        return self._read_error

    def load(self) -> ssl.SSLContext:
        """Read the files and return the server's context; handshakes use the files that `refresh` read last.

        Raises:
            ConfigError: a file is missing or not valid PEM, or certificate and key do not match.
        """
        self.refresh()
        context = self._context()
        context.sni_callback = self._set_context
        return context

    def contexts(self) -> Callable[[], ssl.SSLContext]:
        """Read the files and return a function that returns the context for a new handshake.

        Each change of the files creates a new context, in which no TLS session of an older one can be resumed: a client
        whose CA is no longer trusted has to present its certificate again.

        Raises:
            ConfigError: as of `load`.
        """
        self.refresh()
        return self._current_context

    def request_client_certificates(self, authorities: bytes) -> None:
        """Let clients send a certificate of one of these authorities, in PEM; it replaces those of an earlier call.

        A client may do without. The handshake of one that sends another certificate fails.

        Raises:
            ConfigError: they are not valid PEM; the previous authorities stay in use.
        """
        before, self._trusted = self._trusted, authorities
        if self._in_use is None or before == authorities:
            return
        try:
            context = self._context()
        except ConfigError:
            self._trusted = before
            raise
        self._in_use = context

    def _current_context(self) -> ssl.SSLContext:
        assert self._in_use is not None  # set by `load`, never reset
        return self._in_use

    def refresh(self) -> bool:
        """Read the files and return whether they have changed.

        Raises:
            ConfigError: as of `load`; the previous certificate stays in use.
        """
        self.reads += 1
        try:
            content = tuple(path.read_bytes() for path in self._files)
            if content == self._content:
                self._read_error = ""  # the previous files are back
                return False
            self._in_use = self._context()
        except ConfigError as error:
            self._read_error = str(error)
            self.failed_reads += 1
            raise
        except OSError as error:
            self.failed_reads += 1
            self._read_error = f"{self._owner}'s certificate cannot be read: {error.strerror}: {error.filename}"
            raise ConfigError(self._read_error) from error
        self._content, self._read_error = content, ""
        return True

    async def follow(self, *, seconds: float = POLL_SECONDS) -> None:
        """Check the files periodically, forever. A persistent failure is logged once."""
        files = dict(zip(("cert", "key", "clientCA"), map(str, self._files), strict=False))
        log.info("Starting certificate poll+watcher", extra={"interval": timedelta(seconds=seconds), **files})
        while True:
            before = self._read_error
            await asyncio.sleep(seconds)
            try:
                if self.refresh():
                    log.info("Updated current TLS certificate", extra=files)
            except ConfigError as error:
                if str(error) != before:
                    log.warning("Error re-reading certificate", extra={"error": str(error)})

    def _set_context(
        self, connection: ssl.SSLObject | ssl.SSLSocket, name: str | None, context: ssl.SSLContext
    ) -> None:
        """Set the current certificate for a handshake; called for each one, with or without a server name."""
        if self._in_use is not None:
            connection.context = self._in_use

    def _context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            context.load_cert_chain(self._certificate, self._key, password="")  # avoids a prompt on the terminal
        except ssl.SSLError as error:
            raise ConfigError(
                f"{self._certificate} and {self._key} are not a certificate and its key in PEM form: "
                f"{error.reason or error}"
            ) from error
        if self._client_ca is not None:
            context.verify_mode = ssl.CERT_REQUIRED
            try:
                context.load_verify_locations(self._client_ca)
            except ssl.SSLError as error:
                raise ConfigError(f"{self._client_ca} has no CA as PEM: {error.reason or error}") from error
        if self._trusted:
            context.verify_mode = ssl.CERT_OPTIONAL
            try:
                context.load_verify_locations(cadata=self._trusted.decode("ascii", "replace"))
            except ssl.SSLError as error:
                raise ConfigError(f"the authorities of clients are not CAs as PEM: {error.reason or error}") from error
        return context
