"""HTTP headers of requests and responses, for client and server."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TypeVar, overload

__all__ = ["DIRECT_WATCH", "TOKEN", "Headers", "MalformedHeader", "parse_headers"]

T = TypeVar("T")

TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # the name of a header, or of a method
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")

#: Sent with a watch by code in the process of the API server, whose connection cannot break unnoticed. It needs no
#: bookmarks while nothing happens, and what only shows that something is alive may come late.
DIRECT_WATCH = "Pyctrl-Direct-Watch"

#: Headers with values that `repr` hides.
SECRET = frozenset({"authorization", "cookie", "proxy-authorization", "set-cookie"})


class Headers(Mapping[str, str]):
    """HTTP headers: names are case-insensitive, and one name may have several values.

    As a mapping it has the first value of each name; `get_all` and `pairs` have all values.
    """

    __slots__ = ("_first", "pairs")

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        self.pairs: tuple[tuple[str, str], ...] = tuple(pairs)
        self._first: dict[str, str] | None = None

    @classmethod
    def of(cls, headers: Mapping[str, str]) -> Headers:
        """Return the headers of a mapping; a `Headers` is returned unchanged."""
        return headers if type(headers) is Headers else cls._of_pairs(tuple(headers.items()))

    @classmethod
    @lru_cache(maxsize=64)  # a client in the process sends the same headers again and again
    def _of_pairs(cls, pairs: tuple[tuple[str, str], ...]) -> Headers:
        return cls(pairs)

    @property
    def lowered(self) -> Mapping[str, str]:
        """The first value of each name, by lower-case name."""
        if self._first is None:
            self._first = {}
            for name, value in self.pairs:
                self._first.setdefault(name.lower(), value)
        return self._first

    def get_all(self, name: str) -> list[str]:
        """Return every value of a name, in order."""
        wanted = name.lower()
        if wanted not in self.lowered:
            return []
        return [value for key, value in self.pairs if key.lower() == wanted]

    def over(self, defaults: Headers) -> Headers:
        """Return these headers, plus the defaults for names that are missing.

        If these headers impersonate a user, no impersonation header of the defaults is used: the groups of one user
        must not be combined with the name of another.
        """
        names = self.lowered.keys()
        prefixes = ("impersonate-",) if "impersonate-user" in names else ()
        kept = [p for p in defaults.pairs if (n := p[0].lower()) not in names and not n.startswith(prefixes)]
        return Headers((*self.pairs, *kept))

    @overload
    def get(self, key: str, /) -> str | None: ...
    @overload
    def get(self, key: str, /, default: str | T) -> str | T: ...
    def get(self, key: str, /, default: str | T | None = None) -> str | T | None:
        """Return the first value of a name."""
        return self.lowered.get(key.lower(), default)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and key.lower() in self.lowered

    def __getitem__(self, name: str) -> str:
        try:
            return self.lowered[name.lower()]
        except KeyError:
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        return iter({key.lower(): key for key, _ in reversed(self.pairs)}.values())

    def __len__(self) -> int:
        return len(self.lowered)

    def __repr__(self) -> str:
        return f"Headers({[(name, '***' if name.lower() in SECRET else value) for name, value in self.pairs]!r})"


class MalformedHeader(ValueError):
    """A line of a head that is no header. The text is the reason, in Go's words; it may be empty."""


def parse_headers(lines: Iterable[str]) -> Headers:
    """Parse the lines of headers as in Go's net/http.

    Raises:
        MalformedHeader: One of them is no header.
    """
    pairs: list[tuple[str, str]] = []
    for line in lines:
        if line[:1] in (" ", "\t") and pairs:  # obsolete line folding
            name, value = pairs[-1]
            pairs[-1] = (name, f"{value} {line.strip()}")
            continue
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip(" \t"):
            raise MalformedHeader
        if not TOKEN.fullmatch(name):
            raise MalformedHeader("invalid header name")
        if _CONTROL.search(value):
            raise MalformedHeader("invalid header value")
        pairs.append((name, _decoded(value.strip(" \t"))))
    return Headers(pairs)


def _decoded(value: str) -> str:
    """Decode a header value as UTF-8; invalid bytes are replaced."""
    if value.isascii():
        return value
    return value.encode("latin-1").decode("utf-8", "replace")
