"""What a client reads before anything else: health, version, discovery, the OpenAPI documents."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from pyctrl.apiserver._discovery.discovery import AGGREGATED, discovery_response, is_aggregated
from pyctrl.apiserver._discovery.openapi import openapi_response
from pyctrl.apiserver._errors import Response, method_not_allowed, resource_not_served
from pyctrl.apiserver._healthz import CHECKS, NO_PAGE, health_response
from pyctrl.apiserver._request.request import QueryParameters
from pyctrl.apiserver._resources.served_resources import ServedResources

PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"

_INDENTED = frozenset(("", "version"))  # documents that kube-apiserver writes for people
_NAMED = ("/openapi/v2", "/openapi/v3", "/version")  # of the paths that the first page lists, those that never change


class NonResourcePaths:
    """Answers paths that are not those of a resource; each document is encoded once for what is served."""

    def __init__(self, registry: ServedResources) -> None:
        self._registry = registry
        self._epoch = registry.epoch
        self._encoded: dict[tuple[str, bool], Response] = {}

    def answer(self, method: str, path: str, query: QueryParameters, accept: str, known: str = "") -> Response:
        """Answer a request for a document; ``known`` is the tag of what the client has, its If-None-Match."""
        answer = self._answer(method, path, query, accept)
        is_known = known and ("Etag", known) in answer.headers
        return Response(status=304, headers=answer.headers[1:]) if is_known else answer

    def _answer(self, method: str, path: str, query: QueryParameters, accept: str) -> Response:
        parts = [part for part in path.split("/") if part]
        if parts and parts[0] in CHECKS:
            return health_response(parts, query)
        if method not in ("GET", "HEAD"):
            raise method_not_allowed()
        if self._epoch != self._registry.epoch:
            self._epoch = self._registry.epoch
            self._encoded.clear()
        key = ("/".join(parts), is_aggregated(accept) or wants_protobuf(accept))
        if key not in self._encoded:
            answer = self._make(parts, accept)
            if answer is NO_PAGE:  # not kept: there is no end of paths that do not exist
                if path.startswith("/api") and _is_of_known_group(parts, self._registry):
                    raise resource_not_served()
                return answer
            self._encoded[key] = answer
        return self._encoded[key]

    def _make(self, parts: list[str], accept: str) -> Response:
        path = "/" + "/".join(parts)
        if not parts:
            found: dict[str, Any] | None = {"paths": self._paths()}
        elif parts[0] == "openapi":
            found = openapi_response(self._registry, path)
        else:
            found = discovery_response(self._registry, path, accept)
        if found is None:
            return NO_PAGE
        if parts == ["openapi", "v2"] and wants_protobuf(accept):
            from pyctrl.apiserver._discovery.openapi_protobuf import (
                document_as_protobuf,  # with YAML, for the few who ask for it
            )

            return Response(status=200, headers=(("Content-Type", PROTOBUF),), body=document_as_protobuf(found))
        body = msgspec.json.encode(found)
        if found.get("kind") == "APIGroupDiscoveryList":
            return Response(status=200, headers=(("Content-Type", AGGREGATED), *_tagged(body)), body=body)
        if "/".join(parts) in _INDENTED:
            body = msgspec.json.format(body, indent=2)
        return Response(status=200, body=body)

    def _paths(self) -> list[str]:
        """The paths that there are, for the first page."""
        found = {"/api", "/apis", "/apis/", *_NAMED}
        found.update(f"/{each}" for each in CHECKS)
        found.update(f"/{kind}/{check}" for kind, checks in CHECKS.items() for check in checks)
        for group, versions in self._registry.group_versions.items():
            root = f"/apis/{group}" if group else "/api"
            found.update((root, *(f"{root}/{version}" for version in versions)))
        return sorted(found)


def _is_of_known_group(parts: list[str], registry: ServedResources) -> bool:
    if parts[:1] == ["api"]:
        return len(parts) > 1
    return parts[:1] == ["apis"] and len(parts) > 2 and registry.knows(parts[1], parts[2])


def _tagged(body: bytes) -> tuple[tuple[str, str], ...]:
    """Return the headers by which a client that has a document may ask whether it is still the same."""
    tag = f'"{hashlib.sha512(body).hexdigest().upper()}"'
    return (("Etag", tag), ("Cache-Control", "public"), ("Vary", "Accept"))


def wants_protobuf(accept: str) -> bool:
    """Whether a client asks for the v2 document as protobuf, which it calls otherwise than the answer does."""
    return "proto-openapi.spec.v2" in accept
