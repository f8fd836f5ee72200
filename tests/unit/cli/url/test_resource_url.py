"""Paths of resources by kubectl's names, and curl commands with the credentials of the login."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from random import Random

import pytest
import yaml

from pyctrl.cli._url.resource_url import UrlOptions
from pyctrl.cluster import Cluster
from pyctrl.errors import CommandFailed, UnknownKind
from pyctrl.kinds.apiextensions.v1 import CustomResourceDefinition
from tests.unit.cli.url._cluster import EVC

CLAIMS = "/apis/kopf.dev/v1/namespaces/default/ephemeralvolumeclaims"


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    """A cluster that serves the kind EphemeralVolumeClaim."""
    async with Cluster(random=Random(1), rbac=True, kubelet=False) as running, running.client() as admin:
        await admin.create(CustomResourceDefinition.from_wire(yaml.safe_load(EVC)))
        yield running


async def path_of(cluster: Cluster, kind: str, name: str | None = None, **wanted: object) -> str:
    config = replace(cluster.config, namespace=str(wanted.pop("namespace", "default")))
    async with cluster.client() as client:
        return str(await UrlOptions(kind=kind, name=name, **wanted).address(client, config))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "kind",
    ["evc", "EVCs", "EphemeralVolumeClaim", "ephemeralvolumeclaims.kopf.dev", "ephemeralvolumeclaims.v1.kopf.dev"],
)
async def test_a_kind_has_one_path_whatever_it_is_called(cluster: Cluster, kind: str) -> None:
    """Every name of a kind gives the path of its collection; with an object name, that of the object."""
    assert await path_of(cluster, kind) == CLAIMS
    assert await path_of(cluster, kind, "my-claim") == f"{CLAIMS}/my-claim"
    assert await path_of(cluster, f"{kind}/my-claim") == f"{CLAIMS}/my-claim"


async def test_paths_follow_scope_and_flags(cluster: Cluster) -> None:
    """Paths have the namespace of namespaced kinds only, subresources, and the query of watches."""
    assert await path_of(cluster, "pods", namespace="shop") == "/api/v1/namespaces/shop/pods"
    assert await path_of(cluster, "deploy", all_namespaces=True) == "/apis/apps/v1/deployments"
    assert await path_of(cluster, "node", "n1", namespace="shop") == "/api/v1/nodes/n1"
    assert await path_of(cluster, "deploy/web", subresource="scale") == (
        "/apis/apps/v1/namespaces/default/deployments/web/scale"
    )
    assert await path_of(cluster, "evc", watch=True) == f"{CLAIMS}?watch=true"
    assert await path_of(cluster, "evc/a", watch=True) == f"{CLAIMS}?fieldSelector=metadata.name%3Da&watch=true"


async def test_an_unknown_kind_is_answered_with_what_is_near(cluster: Cluster) -> None:
    """The error for a misspelt kind or a wrong group suggests the similar kind."""
    for kind in ("ephemeralvolumclaim", "evcc", "kopf.dev/ephemeralvolumeclaims"):
        with pytest.raises(UnknownKind, match=r"it serves ephemeralvolumeclaims.kopf.dev \(evcs, evc\)"):
            await path_of(cluster, kind)


async def test_a_kind_of_several_groups_is_the_first_and_said(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    """For a name of several groups the first one is used, as in kubectl; stderr lists the others."""
    assert await path_of(cluster, "events") == "/api/v1/namespaces/default/events"
    assert capsys.readouterr().err == "pyctrl: 'events' may also mean events.v1.events.k8s.io\n"
    assert await path_of(cluster, "events.v1.events.k8s.io") == "/apis/events.k8s.io/v1/namespaces/default/events"
    assert capsys.readouterr().err == ""


async def test_a_kind_that_cannot_be_read_is_told(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    """For a kind that supports only create, stderr notes that list is not supported."""
    await path_of(cluster, "selfsubjectreviews")
    assert "does not support list; it supports: create" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ({"kind": "evc", "name": "a", "all_namespaces": True}, "'a' is in one namespace"),
        ({"kind": "evc/a", "name": "b"}, "'evc/a' already includes a name; unexpected 'b'"),
        ({"kind": "evc/"}, "expected KIND, KIND NAME or KIND/NAME"),
        ({"kind": "deploy", "subresource": "scale"}, r"a list has no subresources; .*deployments has: scale, status"),
        ({"kind": "deploy/a", "subresource": "log"}, "has no subresource 'log'; it has: scale, status"),
        ({"kind": "deploy/a", "subresource": "scale", "watch": True}, "cannot be watched"),
        ({"kind": "pods", "namespace": "a/b"}, "'a/b' cannot be a name"),
    ],
)
async def test_contradictions_are_told(cluster: Cluster, wanted: dict[str, str], why: str) -> None:
    """Contradictory and invalid arguments are errors with the reason."""
    with pytest.raises(CommandFailed, match=why):
        await path_of(cluster, **wanted)


# --- the curl line --------------------------------------------------------------------------------------------------
