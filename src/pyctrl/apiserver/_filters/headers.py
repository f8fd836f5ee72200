"""Headers of requests by lower-case name, and the Warning headers of responses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pyctrl._headers import Headers
from pyctrl.apiserver._authn import REPEATED, RequestAuthenticator
from pyctrl.apiserver._errors import Response
from pyctrl.apiserver._filters.impersonation import EXTRA, GROUP

__all__ = ["first_values", "with_warnings"]

_LISTS = ("sec-websocket-protocol", "x-stream-protocol-version")  # of which clients may send several


def first_values(every: Headers, authenticator: RequestAuthenticator | None) -> Mapping[str, str]:
    """Return the first value of each header by lower-case name, as in Go, and all values of lists and of users."""
    lists = {name: ", ".join(every.get_all(name)) for name in _LISTS if name in every.lowered}
    names = [name for name in every.lowered if name == GROUP or name.startswith(EXTRA)]
    if authenticator is not None:
        names += filter(authenticator.is_repeated, every.lowered)
    if not names and not lists:
        return every.lowered
    return {**every.lowered, **lists, **{name: REPEATED.join(every.get_all(name)) for name in names}}


def with_warnings(response: Response, warnings: list[str]) -> Response:
    """Return a response with a Warning header for each warning, once."""
    headers = [("Warning", f'299 - "{_escaped(warning)}"') for warning in dict.fromkeys(warnings)]
    return replace(response, headers=(*response.headers, *headers))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
