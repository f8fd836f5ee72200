"""Paths that are no resources: health, version, discovery and the OpenAPI documents."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec

from pyctrl._clock import now
from pyctrl.apiserver._discovery.discovery import AGGREGATED, VERSION, discovery_response
from pyctrl.apiserver._discovery.openapi import openapi_response
from pyctrl.apiserver._discovery.openapi_handler import OpenAPIHandler
from pyctrl.apiserver._errors import JSON, YAML, Response, StatusError, method_not_allowed, resource_not_served
from pyctrl.apiserver._healthz import CHECKS, NOT_FOUND, health_response
from pyctrl.apiserver._metrics.server_metrics import ServerMetrics
from pyctrl.apiserver._pprof import PPROF, pprof_response
from pyctrl.apiserver._request.negotiation import check_produced, negotiate_discovery
from pyctrl.apiserver._request.request import QueryParameters
from pyctrl.apiserver._resources.served_resources import ServedResources
from pyctrl.apiserver._zpages import flagz_response, statusz_response

__all__ = ["NonResourcePaths"]

_INDENTED = frozenset(("", "version"))  # documents that kube-apiserver indents
#: Paths of the root document that never change.
_NAMED = ("/metrics", "/metrics/slis", "/openapi/v2", "/openapi/v3", "/openapi/v3/", "/flagz", "/statusz", "/version")
_OPENID = ("/.well-known/openid-configuration", "/openid/v1/jwks")


class RemoteDocuments(Protocol):
    """Adds what other servers serve to the documents of this one."""

    @property
    def epoch(self) -> int:
        """A number that changes with what is added."""
        ...

    def merged(self, parts: Sequence[str], document: dict[str, Any] | None) -> dict[str, Any] | None:
        """Return the document of a path; None if neither this server nor another has it."""
        ...


class NonResourcePaths:
    """Serves paths that are no resources. Each document is encoded once until the served resources change."""

    def __init__(
        self,
        registry: ServedResources,
        remote: RemoteDocuments | None = None,
        metrics: ServerMetrics | None = None,
    ) -> None:
        self._registry, self._remote = registry, remote
        self._metrics = metrics
        self._started = now()
        self._epoch = self._current_epoch()
        self._encoded: dict[tuple[str, bool, str], Response] = {}
        self._openapi = OpenAPIHandler(self._find_openapi)
        #: The command line of the server, for `/flagz`.
        self.flags: Mapping[str, str] = {}

    def response(self, method: str, path: str, query: QueryParameters, accept: str, etag: str = "") -> Response:
        """Return the response to a request for a document; ``etag`` is its If-None-Match header."""
        response = self._find(method, path, query, accept)
        is_unchanged = etag and ("Etag", etag) in response.headers
        return Response(status=304, headers=response.headers[1:]) if is_unchanged else response

    def _find(self, method: str, path: str, query: QueryParameters, accept: str) -> Response:
        parts = [part for part in path.split("/") if part]
        if parts and parts[0] in CHECKS:
            return health_response(path, query)
        if path.startswith(("//", "/apis//")):
            return NOT_FOUND
        if path == "/statusz":
            return statusz_response(accept, self._started, VERSION)
        if path == "/flagz":
            return flagz_response(accept, self.flags)
        if path == PPROF or path.startswith(f"{PPROF}/"):
            return pprof_response(path)
        if self._metrics is not None and (found := self._metrics.find_response(path, VERSION)) is not None:
            return found
        self._drop_outdated()
        if parts[:1] == ["openapi"]:
            return self._openapi.response(path, query, accept)
        response = self._document(path, parts, accept)
        if method != "GET" and response.status == 200 and not self._has_any_method(parts, method):
            raise method_not_allowed()
        if parts == ["version"]:
            check_produced(accept, JSON)
        return response

    def _has_any_method(self, parts: list[str], method: str) -> bool:
        """Return whether a document is the response to a method other than GET.

        As upstream, where only built-in group versions, and few other documents, check the method.
        """
        if parts[:1] == ["apis"] and len(parts) == 3:
            return not self._registry.is_builtin_group(parts[1])
        if parts[:1] in (["api"], ["version"]):
            return False
        return method == "HEAD" or not parts or parts[0] == "apis"

    def _document(self, path: str, parts: list[str], accept: str) -> Response:
        # Only the router of kube-apiserver, which these documents pass, ignores `application/*`.
        is_routed = parts[:1] == ["api"] or (len(parts) == 3 and self._registry.is_builtin_group(parts[1]))
        is_other, media = _negotiated(parts, accept, is_routed=is_routed)
        key = ("/".join(parts), is_other, media)
        if key not in self._encoded:
            response = self._encode(parts, is_other=is_other, media=media)
            if response.status == NOT_FOUND.status:  # not cached: the number of paths that do not exist is unlimited
                if path.startswith("/api") and _is_of_known_group(parts, self._registry):
                    raise resource_not_served()
                return response
            self._encoded[key] = response
        if not media:
            _negotiate(parts, accept, is_routed=is_routed)  # which refuses: the document exists
        return self._encoded[key]

    def _drop_outdated(self) -> None:
        """Drop the encoded documents if the served resources have changed."""
        if self._epoch != (epoch := self._current_epoch()):
            self._epoch = epoch
            self._encoded.clear()
            self._openapi.clear()

    def _find_openapi(self, parts: Sequence[str]) -> dict[str, Any] | None:
        found = openapi_response(self._registry, "/" + "/".join(parts))
        return found if self._remote is None else self._remote.merged(parts, found)

    def _encode(self, parts: list[str], *, is_other: bool, media: str) -> Response:
        path = "/" + "/".join(parts)
        if not parts:
            found: dict[str, Any] | None = {"paths": self._paths()}
        else:
            found = discovery_response(self._registry, path, is_aggregated=is_other)
        if self._remote is not None:
            found = self._remote.merged(parts, found)
        if found is None:
            return NOT_FOUND
        body = msgspec.json.encode(found)
        if media == YAML:
            return _yaml_response(found, body)
        if found.get("kind") == "APIGroupDiscoveryList":
            return Response(status=200, headers=(("Content-Type", AGGREGATED), *_caching_headers(body)), body=body)
        if "/".join(parts) in _INDENTED:
            body = msgspec.json.format(body, indent=2)
        return Response(status=200, body=body)

    def _current_epoch(self) -> tuple[int, int]:
        return self._registry.epoch, self._remote.epoch if self._remote is not None else 0

    def _paths(self) -> list[str]:
        """Return the paths of the root document."""
        found = {"/apis", "/apis/", *_NAMED}
        found.update(f"/{each}" for each in CHECKS)
        found.update(f"/{kind}/{check}" for kind, checks in CHECKS.items() for check in checks)
        if "" in self._registry.group_versions:  # a kube-apiserver, whose tokens have an issuer
            found.update(_OPENID)
        for group, versions in self._registry.group_versions.items():
            root = f"/apis/{group}" if group else "/api"
            found.update((root, *(f"{root}/{version}" for version in versions)))
        return sorted(found)


_AGGREGATED = (["api"], ["apis"])  # the documents with an aggregated form


def _negotiate(parts: list[str], accept: str, *, is_routed: bool) -> tuple[str, bool]:
    return negotiate_discovery(accept, has_aggregated=parts in _AGGREGATED, is_routed=is_routed)


def _negotiated(parts: list[str], accept: str, *, is_routed: bool) -> tuple[bool, str]:
    """Return whether a client accepts the aggregated form of a document, and the media type.

    The media type is "" if none is accepted. A document that does not exist has no media type, so that comes first.
    """
    if parts[:1] not in _AGGREGATED:
        return False, JSON
    try:
        media, is_aggregated = _negotiate(parts, accept, is_routed=is_routed)
    except StatusError:
        return False, ""
    return is_aggregated, media


def _yaml_response(found: Mapping[str, Any], body: bytes) -> Response:
    from pyctrl.apiserver._serializer.yaml_writer import write_yaml  # here: most clients accept JSON

    is_aggregated = found.get("kind") == "APIGroupDiscoveryList"
    kind = AGGREGATED.replace(JSON, YAML) if is_aggregated else YAML
    more = _caching_headers(body) if is_aggregated else ()
    return Response(status=200, headers=(("Content-Type", kind), *more), body=write_yaml(msgspec.json.decode(body)))


def _is_of_known_group(parts: list[str], registry: ServedResources) -> bool:
    if parts[:1] == ["api"]:
        return len(parts) > 1
    return parts[:1] == ["apis"] and len(parts) > 2 and registry.knows(parts[1], parts[2])


def _caching_headers(body: bytes) -> tuple[tuple[str, str], ...]:
    """Return the headers that let a client revalidate a document."""
    tag = f'"{hashlib.sha512(body).hexdigest().upper()}"'
    return (("Etag", tag), ("Cache-Control", "public"), ("Vary", "Accept"))
