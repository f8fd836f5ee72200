"""Discovery and OpenAPI documents of extension API servers, fetched regularly and merged into those of this server."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha512
from typing import Any

import msgspec

from pyctrl.apiserver._aggregator.api_service import APIService
from pyctrl.apiserver._aggregator.availability import AGGREGATOR
from pyctrl.apiserver._aggregator.openapi_conversion import to_openapi_v3
from pyctrl.apiserver._aggregator.proxy_handler import ProxyHandler
from pyctrl.apiserver._aggregator.service_transport import ServiceUnreachable
from pyctrl.apiserver._errors import Response
from pyctrl.apiserver._user import ADMINISTRATORS, User
from pyctrl.apiserver._webhooks import WebhookUnreachable

__all__ = ["DiscoveryManager", "GroupVersionDiscovery"]

FETCH_SECONDS = 5.0  # for a discovery document; kube-aggregator's limit

_OPENAPI_USER = User(name="system:aggregator", groups=(ADMINISTRATORS,))
_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_JSON = "application/json"

_decode = msgspec.json.decode


@dataclass(slots=True)
class GroupVersionDiscovery:
    """What is known of one remote group version."""

    entry: dict[str, Any] = field(default_factory=dict)  # an APIVersionDiscovery
    openapi_v3: dict[str, Any] = field(default_factory=dict)  # the paths of the v3 index
    openapi_v2: bytes = b""  # the document, as JSON
    converted: bytes = b""  # the v3 document of a server that has only v2


class DiscoveryManager:
    """Fetches the documents of remote group versions."""

    def __init__(self, proxy: ProxyHandler) -> None:
        self._proxy = proxy
        #: By name of the APIService. Without a response, its entry is stale and empty, and OpenAPI documents are kept.
        self.found: dict[str, GroupVersionDiscovery] = {}
        self.epoch: int = 0  # incremented when a document changes

    def expect(self, api: APIService) -> None:
        """List a group version before its document was fetched: without resources, as stale."""
        if api.name not in self.found:
            self.found[api.name] = GroupVersionDiscovery({"version": api.version, "freshness": "Stale"})
        self.epoch += 1

    def forget(self, name: str) -> None:
        """Drop the documents of an APIService that was deleted."""
        if self.found.pop(name, None) is not None:
            self.epoch += 1

    async def refresh(self, api: APIService) -> bool:
        """Fetch the documents of an APIService; return whether its discovery document could be read."""
        if not api.group:
            return api.is_available  # all of /api is proxied, and its OpenAPI documents are those of this server
        known = self.found.get(api.name) or GroupVersionDiscovery()
        found = await self._entry(api) if api.is_available else None
        is_current = found is not None
        entry = {**(found or {"version": api.version}), "freshness": "Current" if is_current else "Stale"}
        refreshed = replace(known, entry=entry)
        if is_current:
            await self._refresh_openapi(api, refreshed)
        if refreshed != self.found.get(api.name):
            self.found[api.name] = refreshed
            self.epoch += 1
        return is_current

    async def _entry(self, api: APIService) -> dict[str, Any] | None:
        """Return the APIVersionDiscovery of a group version, by aggregated or by legacy discovery."""
        response = await self._fetch(api, "/apis", {"Accept": f"{_AGGREGATED}, {_JSON}"})
        if response is None or response.status == 503:
            return None
        document = _read(response)
        if document.get("kind") == "APIGroupDiscoveryList":
            return _version_of(document, api) or {"version": api.version}
        response = await self._fetch(api, f"/apis/{api.group}/{api.version}", {"Accept": _JSON})
        document = _read(response)
        if document.get("kind") != "APIResourceList":
            return None
        return {"version": api.version, "resources": _from_resource_list(document, api)}

    async def _refresh_openapi(self, api: APIService, found: GroupVersionDiscovery) -> None:
        """Fetch the OpenAPI documents; those that cannot be read stay. Without v3, v2 is converted."""
        index = await self._fetch(api, "/openapi/v3", {"Accept": _JSON}, _OPENAPI_USER)
        found.openapi_v2 = await self._openapi_v2(api) or found.openapi_v2
        path = f"apis/{api.group}/{api.version}"
        if index is not None and index.status == 404 and found.openapi_v2:
            found.converted = msgspec.json.encode(to_openapi_v3(_decode(found.openapi_v2)))
            tag = sha512(found.converted).hexdigest().upper()
            found.openapi_v3 = {path: {"serverRelativeURL": f"/openapi/v3/{path}?hash={tag}"}}
        elif paths := _read(index).get("paths"):
            found.converted = b""
            found.openapi_v3 = {each: paths[each] for each in (f"apis/{api.group}", path) if each in paths}

    async def _openapi_v2(self, api: APIService) -> bytes:
        response = await self._fetch(api, "/openapi/v2", {"Accept": _JSON}, _OPENAPI_USER)
        if response is None or not isinstance(response.body, bytes) or not _read(response).get("swagger"):
            return b""
        return response.body

    async def _fetch(
        self, api: APIService, path: str, headers: dict[str, str], user: User = AGGREGATOR
    ) -> Response | None:
        """Return a response with a whole body; None if there is none."""
        assert api.service is not None
        try:
            location = self._proxy.locate(api.service)
            async with asyncio.timeout(FETCH_SECONDS):
                response = await self._proxy.fetch(api, location, path, user, headers)
        except (TimeoutError, ServiceUnreachable, WebhookUnreachable, OSError):
            return None
        return response if isinstance(response.body, bytes) else None


def _read(response: Response | None) -> dict[str, Any]:
    """Return the JSON object of a successful response; {} for others."""
    if response is None or response.status != 200 or not isinstance(response.body, bytes):
        return {}
    try:
        found = _decode(response.body)
    except msgspec.DecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def _version_of(document: Mapping[str, Any], api: APIService) -> dict[str, Any] | None:
    """Return the entry of a group version in an APIGroupDiscoveryList."""
    for group in document.get("items") or ():
        if (group.get("metadata") or {}).get("name", "") == api.group:
            for version in group.get("versions") or ():
                if version.get("version") == api.version:
                    return dict(version)
    return None


def _from_resource_list(document: Mapping[str, Any], api: APIService) -> list[dict[str, Any]]:
    """Return the resources of an APIResourceList in the form of aggregated discovery."""
    found: dict[str, dict[str, Any]] = {}
    for each in document.get("resources") or ():
        name, _, subresource = str(each["name"]).partition("/")
        kind = {
            "group": each.get("group") or api.group,
            "version": each.get("version") or api.version,
            "kind": each.get("kind", ""),
        }
        scope = "Namespaced" if each.get("namespaced") else "Cluster"
        if subresource:
            parent = found.setdefault(name, {"resource": name, "scope": scope})
            part = {"subresource": subresource, "responseKind": kind, "verbs": each.get("verbs") or []}
            parent.setdefault("subresources", []).append(part)
            continue
        entry = {
            "resource": name,
            "responseKind": kind,
            "scope": scope,
            "singularResource": each.get("singularName", ""),
            "verbs": each.get("verbs") or [],
            "shortNames": each.get("shortNames"),
            "categories": each.get("categories"),
        }
        found.setdefault(name, {}).update({key: value for key, value in entry.items() if value is not None})
    return list(found.values())
