"""Bind addresses of the health and metrics servers."""

from __future__ import annotations

import re

from msgspec import Struct

from pyctrl.errors import ManagerError

__all__ = ["BindAddress"]


class BindAddress(Struct, frozen=True):
    """A host, None for all addresses, and a port, 0 for any free one."""

    host: str | None
    port: int

    @classmethod
    def parse(cls, text: str | None, option: str) -> BindAddress | None:
        """Parse ``HOST:PORT``, ``:PORT`` or ``[IPV6]:PORT``; None, "" and "0" disable the server.

        Raises:
            ManagerError: the text is not an address; the message names ``option``.
        """
        if text is None or text in ("", "0"):
            return None
        found = re.fullmatch(r"(?:\[(?P<v6>[0-9A-Fa-f:.%\w]+)\]|(?P<host>[^:\[\]\s]*)):(?P<port>\d{1,5})", text)
        if found is None or int(found["port"]) > 65535:
            raise ManagerError(
                f"{option} is an address such as :8081, 127.0.0.1:8081 or [::1]:8081, or 0 for none; got {text!r}"
            )
        return cls(found["v6"] or found["host"] or None, int(found["port"]))

    def __str__(self) -> str:
        host = f"[{self.host}]" if self.host and ":" in self.host else self.host or ""
        return f"{host}:{self.port}"
