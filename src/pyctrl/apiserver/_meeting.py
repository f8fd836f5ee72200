"""What a client reads before anything else: health, version, discovery, the OpenAPI documents."""

from __future__ import annotations

from ._answers import Answer, method_not_allowed
from ._forms import Form, answer_value
from ._resources import Registry

try:
    from ._discovery import discovery_answer
    from ._openapi import openapi_answer
except ImportError:
    pass

HEALTH = ("/healthz", "/livez", "/readyz")

TEXT = (("Content-Type", "text/plain; charset=utf-8"),)
_NO_PAGE = Answer(status=404, headers=TEXT, body=b"404 page not found\n")


def answer_elsewhere(registry: Registry, method: str, path: str, accept: str) -> Answer:
    """Answer a path that is not that of a resource."""
    if path.startswith(HEALTH):
        return Answer(status=200, headers=TEXT, body=b"ok")
    if method != "GET":
        raise method_not_allowed()
    if path.startswith("/openapi/"):
        found = openapi_answer(registry, path)
    else:
        found = discovery_answer(registry, path, accept)
    return _NO_PAGE if found is None else answer_value(found, Form())
