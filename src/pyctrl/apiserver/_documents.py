"""What a client reads before anything else: health, version, discovery, the OpenAPI documents."""

from __future__ import annotations

import msgspec

from ._answers import JSON, Answer, method_not_allowed
from ._discovery import AGGREGATED, discovery_answer, is_aggregated
from ._openapi import openapi_answer
from ._resources import Registry

HEALTH = ("healthz", "livez", "readyz")

TEXT = (("Content-Type", "text/plain; charset=utf-8"),)
NO_PAGE = Answer(status=404, headers=TEXT, body=b"404 page not found\n")
_OK = Answer(status=200, headers=TEXT, body=b"ok")


class Documents:
    """Answers paths that are not those of a resource; each document is encoded once for what is served."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._epoch = registry.epoch
        self._encoded: dict[tuple[str, bool], Answer] = {}

    def answer(self, method: str, path: str, accept: str) -> Answer:
        """Answer a request for a document."""
        parts = [part for part in path.split("/") if part]
        if parts and parts[0] in HEALTH:
            return _OK
        if method not in ("GET", "HEAD"):
            raise method_not_allowed()
        if self._epoch != self._registry.epoch:
            self._epoch = self._registry.epoch
            self._encoded.clear()
        key = ("/".join(parts), is_aggregated(accept))
        if key not in self._encoded:
            answer = self._make(parts, accept)
            if answer is NO_PAGE:
                return answer  # not kept: there is no end of paths that do not exist
            self._encoded[key] = answer
        return self._encoded[key]

    def _make(self, parts: list[str], accept: str) -> Answer:
        path = "/" + "/".join(parts)
        if parts and parts[0] == "openapi":
            found = openapi_answer(self._registry, path)
        else:
            found = discovery_answer(self._registry, path, accept)
        if found is None:
            return NO_PAGE
        media = AGGREGATED if found.get("kind") == "APIGroupDiscoveryList" else JSON
        return Answer(status=200, headers=(("Content-Type", media),), body=msgspec.json.encode(found))
