"""The system's authorities, which aiohttp loads twice when it is imported, loaded when somebody trusts them.

aiohttp makes two TLS contexts for sessions that bring none. Ours bring theirs, so most operators never use these two;
with the 140 authorities of a Linux image they take 40 ms of CPU and 2 MB.
"""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["authorities_loaded_later"]


@contextmanager
def authorities_loaded_later() -> Iterator[None]:
    """Let TLS contexts that this thread makes in the block load the system's authorities when they are first used."""
    made: list[ssl.SSLContext] = []
    here, load = threading.get_ident(), ssl.SSLContext.set_default_verify_paths

    def note(context: ssl.SSLContext) -> None:
        if threading.get_ident() == here:
            made.append(context)
        else:
            load(context)

    ssl.SSLContext.set_default_verify_paths = note  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        ssl.SSLContext.set_default_verify_paths = load  # type: ignore[method-assign]
    for context in made:
        context.__class__ = _LoadedLater


class _LoadedLater(ssl.SSLContext):
    """A context that does not have its authorities yet; once it has, it is like any other."""

    def wrap_bio(self, *args: Any, **kwargs: Any) -> ssl.SSLObject:
        return self._loaded().wrap_bio(*args, **kwargs)

    def wrap_socket(self, *args: Any, **kwargs: Any) -> ssl.SSLSocket:
        return self._loaded().wrap_socket(*args, **kwargs)

    def cert_store_stats(self) -> dict[str, int]:
        return self._loaded().cert_store_stats()

    def get_ca_certs(self, *args: Any, **kwargs: Any) -> Any:
        return self._loaded().get_ca_certs(*args, **kwargs)

    def _loaded(self) -> ssl.SSLContext:
        context: ssl.SSLContext = self
        context.__class__ = ssl.SSLContext
        context.set_default_verify_paths()
        return context
