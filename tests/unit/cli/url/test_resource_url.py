"""Where things are: paths from what people call them, and curl lines that log in as the login does."""

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
    """A cluster that serves the claims of the seed."""
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
    """Every name of the seed's kind leads to the path that its author looked for; a name behind it to the object."""
    assert await path_of(cluster, kind) == CLAIMS
    assert await path_of(cluster, kind, "my-claim") == f"{CLAIMS}/my-claim"
    assert await path_of(cluster, f"{kind}/my-claim") == f"{CLAIMS}/my-claim"


async def test_paths_follow_scope_and_flags(cluster: Cluster) -> None:
    """Namespaces, all of them, none for kinds without; sub-resources; watches, of one object by its name."""
    assert await path_of(cluster, "pods", namespace="shop") == "/api/v1/namespaces/shop/pods"
    assert await path_of(cluster, "deploy", all_namespaces=True) == "/apis/apps/v1/deployments"
    assert await path_of(cluster, "node", "n1", namespace="shop") == "/api/v1/nodes/n1"
    assert await path_of(cluster, "deploy/web", subresource="scale") == (
        "/apis/apps/v1/namespaces/default/deployments/web/scale"
    )
    assert await path_of(cluster, "evc", watch=True) == f"{CLAIMS}?watch=true"
    assert await path_of(cluster, "evc/a", watch=True) == f"{CLAIMS}?fieldSelector=metadata.name%3Da&watch=true"


async def test_an_unknown_kind_is_answered_with_what_is_near(cluster: Cluster) -> None:
    """A slip, and the path that the seed's author tried, name the kind that was meant."""
    for kind in ("ephemeralvolumclaim", "evcc", "kopf.dev/ephemeralvolumeclaims"):
        with pytest.raises(UnknownKind, match=r"it serves ephemeralvolumeclaims.kopf.dev \(evcs, evc\)"):
            await path_of(cluster, kind)


async def test_a_kind_of_several_groups_is_the_first_and_said(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    """As kubectl does it takes the first group; stderr has the names of the others."""
    assert await path_of(cluster, "events") == "/api/v1/namespaces/default/events"
    assert capsys.readouterr().err == "pyctrl: 'events' may also mean events.v1.events.k8s.io\n"
    assert await path_of(cluster, "events.v1.events.k8s.io") == "/apis/events.k8s.io/v1/namespaces/default/events"
    assert capsys.readouterr().err == ""


async def test_a_kind_that_cannot_be_read_is_told(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    """The path of a kind that is only created is right, and stderr says that getting it is not served."""
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
    """What cannot be is one error that says what can."""
    with pytest.raises(CommandFailed, match=why):
        await path_of(cluster, **wanted)


# --- the curl line --------------------------------------------------------------------------------------------------
