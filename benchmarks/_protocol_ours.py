"""The HTTP/1.1 code of the embedded API server, in front of the work of `protocols.py`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from _protocol_work import JSON_TYPE, answer

from pyctrl.apiserver import _http_answer, _http_body, _http_connection, _http_head
from pyctrl.apiserver._answers import Answer

#: The names of the modules that are this HTTP code.
MODULES = tuple(each.__name__ for each in (_http_answer, _http_body, _http_connection, _http_head))

HEADERS = (("Content-Type", JSON_TYPE),)


async def _handle(head: Any, body: bytes, _peer: object) -> Answer:
    status, content = answer(head.method, head.path, head.headers, body)
    return Answer(status=status, headers=HEADERS, body=content)


def protocols() -> Callable[[], asyncio.Protocol]:
    """Return what makes the protocol of a connection."""
    living: set[_http_connection.Connection] = set()
    return lambda: _http_connection.Connection(_handle, living)
