"""The certificate that the server shows: from files, and read anew when they change."""

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
    """A certificate and its key in two files, as a TLS context that follows them.

    What counts is what the files contain, not when or how they changed: the swap of a symlink by which the kubelet
    renews a mounted Secret is a change like any other. Files that do not fit together, or cannot be read, leave the
    certificate that was shown before, until they do; connections that are open go on.
    """

    def __init__(
        self, certificate: Path, key: Path, *, client_ca: Path | None = None, owner: str = "the webhook server"
    ) -> None:
        """Name the files; nothing is read yet.

        Args:
            certificate: PEM of the certificate, with the intermediate ones behind it.
            key: PEM of its key, not encrypted.
            client_ca: PEM of authorities; with them, only clients with a certificate of theirs are served.
            owner: whose it is, for messages.
        """
        self._owner = owner
        self._certificate = certificate
        self._key = key
        self._client_ca = client_ca
        self._files = [certificate, key] if client_ca is None else [certificate, key, client_ca]
        self._content: tuple[bytes, ...] | None = None
        self._shown: ssl.SSLContext | None = None
        self._complaint = ""
        #: How often the files were read, and how often that failed; metrics tell it under controller-runtime's names.
        self.reads: int = 0
        self.failed_reads: int = 0

    @property
    def complaint(self) -> str:
        """Why the files could not be read when they were looked at last; "" when all is well."""
        return self._complaint

    def load(self) -> ssl.SSLContext:
        """Read the files and return the context for a server; handshakes get what `refresh` has read by then.

        Raises:
            ConfigError: a file is missing, or no certificate or key, or they do not fit together.
        """
        self.refresh()
        context = self._context()
        context.sni_callback = self._show
        return context

    def contexts(self) -> Callable[[], ssl.SSLContext]:
        """Read the files and return a function that gives the context for a handshake that begins now.

        Each change of the files makes another context, with which no TLS session of an older one can be resumed: a
        client whose authority is no longer trusted has to show its certificate again.

        Raises:
            ConfigError: as of `load`.
        """
        self.refresh()
        return self._context_of_now

    def _context_of_now(self) -> ssl.SSLContext:
        assert self._shown is not None  # it was read, and is never taken away
        return self._shown

    def refresh(self) -> bool:
        """Read the files, and say whether they have changed.

        Raises:
            ConfigError: as of `load`; what was shown before is shown on.
        """
        self.reads += 1
        try:
            content = tuple(path.read_bytes() for path in self._files)
            if content == self._content:
                return False
            self._shown = self._context()
        except ConfigError as error:
            self._complaint = str(error)
            self.failed_reads += 1
            raise
        except OSError as error:
            self.failed_reads += 1
            self._complaint = f"{self._owner}'s certificate cannot be read: {error.strerror}: {error.filename}"
            raise ConfigError(self._complaint) from error
        self._content, self._complaint = content, ""
        return True

    async def follow(self, *, seconds: float = POLL_SECONDS) -> None:
        """Look at the files every so many seconds, for ever; trouble is logged once, until it is another."""
        files = dict(zip(("cert", "key", "clientCA"), map(str, self._files), strict=False))
        log.info("Starting certificate poll+watcher", extra={"interval": timedelta(seconds=seconds), **files})
        while True:
            before = self._complaint
            await asyncio.sleep(seconds)
            try:
                if self.refresh():
                    log.info("Updated current TLS certificate", extra=files)
            except ConfigError as error:
                if str(error) != before:
                    log.warning("Failed to read the certificate, showing the one before", extra={"error": str(error)})

    def _show(self, connection: ssl.SSLObject | ssl.SSLSocket, name: str | None, context: ssl.SSLContext) -> None:
        """Give a handshake the certificate of now; called in each, with or without a name."""
        if self._shown is not None:
            connection.context = self._shown

    def _context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            context.load_cert_chain(self._certificate, self._key, password="")  # not to be asked for on a terminal
        except ssl.SSLError as error:
            raise ConfigError(
                f"{self._certificate} and {self._key} are no certificate and its key, both as PEM: "
                f"{error.reason or error}"
            ) from error
        if self._client_ca is not None:
            context.verify_mode = ssl.CERT_REQUIRED
            try:
                context.load_verify_locations(self._client_ca)
            except ssl.SSLError as error:
                raise ConfigError(f"{self._client_ca} has no authorities as PEM: {error.reason or error}") from error
        return context
