"""HTTP headers of requests and responses, for client and server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar, overload

__all__ = ["DIRECT_WATCH", "Headers"]

T = TypeVar("T")

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
        return headers if isinstance(headers, Headers) else cls(headers.items())

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
