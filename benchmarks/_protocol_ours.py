"""The HTTP/1.1 code of the embedded API server, with the work of `protocols.py`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from _protocol_work import JSON_TYPE, answer

from pyctrl.apiserver._errors import Response
from pyctrl.apiserver._http import body as request_body
from pyctrl.apiserver._http import connection, head, response

#: The modules of this HTTP code.
MODULES = tuple(each.__name__ for each in (response, request_body, connection, head))

HEADERS = (("Content-Type", JSON_TYPE),)


async def _handle(request: head.RequestHead, body: bytes, _peer: object) -> Response:
    status, content = answer(request.method, request.path, request.headers, body)
    return Response(status=status, headers=HEADERS, body=content)


def protocols() -> Callable[[], asyncio.Protocol]:
    """Return a factory of protocols for connections."""
    living: set[connection.HTTPConnection] = set()
    return lambda: connection.HTTPConnection(_handle, living)
