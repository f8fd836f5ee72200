"""Documents of extension API servers."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from pyctrl.apiserver import Response, ServiceReference
from pyctrl.apiserver._aggregator.api_service import APIService
from pyctrl.apiserver._aggregator.discovery_manager import DiscoveryManager
from pyctrl.apiserver._aggregator.proxy_handler import ProxyHandler
from tests.unit.apiserver.aggregator._remote import GROUP, LEGACY, NAME, PATH, RESOURCE, Remote, api_service

API = replace(APIService.from_object(api_service()), is_available=True)


def resolve(reference: ServiceReference) -> tuple[str, int]:
    """Resolve every service."""
    return "flavors.invalid", reference.port


def manager_of(remote: Remote) -> DiscoveryManager:
    """Return a manager that reads from an extension API server."""
    return DiscoveryManager(ProxyHandler(resolve, remote, {}))


async def test_aggregated_discovery_is_preferred() -> None:
    """One request has the resources of all group versions of a server."""
    remote = Remote()
    manager = manager_of(remote)
    assert await manager.refresh(API)
    assert manager.found[NAME].entry == {"version": "v1", "resources": [RESOURCE], "freshness": "Current"}
    assert PATH not in remote.paths()


@pytest.mark.parametrize("apis", [None, {"kind": "APIGroupList"}], ids=["missing", "another document"])
async def test_a_server_without_it_is_read_by_group_version(apis: Any) -> None:
    """Resources and subresources of an APIResourceList are brought into the newer form."""
    remote = Remote({"/apis": apis})
    manager = manager_of(remote)
    assert await manager.refresh(API)
    kind = {"group": GROUP, "version": "v1", "kind": "Flavor"}
    assert manager.found[NAME].entry["resources"] == [
        {
            "resource": "flavors",
            "responseKind": kind,
            "scope": "Cluster",
            "singularResource": "flavor",
            "verbs": ["list"],
            "subresources": [{"subresource": "status", "responseKind": kind, "verbs": ["get"]}],
        }
    ]


async def test_a_server_that_serves_other_versions_has_no_resources() -> None:
    """Its document is current, but does not have the group version."""
    manager = manager_of(Remote({"/apis": {"kind": "APIGroupDiscoveryList", "items": []}}))
    assert await manager.refresh(API)
    assert manager.found[NAME].entry == {"version": "v1", "freshness": "Current"}


@pytest.mark.parametrize(
    "documents",
    [
        {"/apis": Response(status=503)},
        {"/apis": None, PATH: None},
        {"/apis": None, PATH: Response(status=200, body=b"{")},
        {"/apis": None, PATH: {"kind": "Status"}},
    ],
    ids=["unavailable", "missing", "malformed", "another document"],
)
async def test_resources_that_cannot_be_read_are_stale(documents: dict[str, Any]) -> None:
    """The group version stays, without resources."""
    remote = Remote()
    manager = manager_of(remote)
    await manager.refresh(API)
    remote.documents.update(documents)
    assert not await manager.refresh(API)
    assert manager.found[NAME].entry == {"version": "v1", "freshness": "Stale"}


async def test_a_server_that_is_not_available_is_not_called() -> None:
    """Its documents are stale."""
    remote = Remote()
    manager = manager_of(remote)
    assert not await manager.refresh(replace(API, is_available=False))
    assert remote.requests == []


async def test_openapi_documents_are_kept_when_a_server_fails() -> None:
    """Only the documents of the group version are taken from the index."""
    path = f"apis/{GROUP}/v1"
    v2 = {"swagger": "2.0", "paths": {}}
    remote = Remote({"/openapi/v3": {"paths": {path: {"a": 1}, "version": {}}}, "/openapi/v2": v2})
    manager = manager_of(remote)
    await manager.refresh(API)
    remote.why_down = "EOF"
    await manager.refresh(API)
    found = manager.found[NAME]
    assert (found.openapi_v3, json.loads(found.openapi_v2)) == ({path: {"a": 1}}, v2)


async def test_the_epoch_changes_with_the_documents() -> None:
    """A refresh that finds the same documents changes nothing."""
    remote = Remote()
    manager = manager_of(remote)
    manager.expect(API)
    epochs = [manager.epoch]
    for documents in ({}, {}, {"/apis": None, PATH: {**LEGACY, "resources": []}}):
        remote.documents.update(documents)
        await manager.refresh(API)
        epochs.append(manager.epoch)
    manager.forget(NAME)
    manager.forget(NAME)
    assert [*epochs, manager.epoch] == [1, 2, 2, 3, 4]
    assert manager.found == {}
