"""Headers of requests by lower-case name, and the Warning headers of responses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from pyctrl._headers import Headers
from pyctrl.apiserver._authn import REPEATED, RequestAuthenticator
from pyctrl.apiserver._errors import Response
from pyctrl.apiserver._filters.impersonation import is_repeated

__all__ = ["first_values", "with_warnings"]

_LISTS = ("sec-websocket-protocol", "x-stream-protocol-version")  # of which clients may send several


def first_values(every: Headers, authenticator: RequestAuthenticator | None) -> Mapping[str, str]:
    """Return the first value of each header by lower-case name, as in Go, and all values of lists and of users."""
    lowered = every.lowered
    lists, names = _with_several_values(tuple(lowered))
    if authenticator is not None:
        names = (*names, *filter(authenticator.is_repeated, lowered))
    if not names and not lists:
        return lowered
    listed = {name: ", ".join(every.get_all(name)) for name in lists}
    return {**lowered, **listed, **{name: REPEATED.join(every.get_all(name)) for name in names}}


@lru_cache(maxsize=256)  # a client sends the same headers again and again
def _with_several_values(names: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of headers whose values are lists, and of those that impersonate users."""
    return tuple(filter(_LISTS.__contains__, names)), tuple(filter(is_repeated, names))


def with_warnings(response: Response, warnings: list[str]) -> Response:
    """Return a response with a Warning header for each warning, once."""
    headers = [("Warning", f'299 - "{_escaped(warning)}"') for warning in dict.fromkeys(warnings)]
    return replace(response, headers=(*response.headers, *headers))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
