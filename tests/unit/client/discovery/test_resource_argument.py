"""Resource arguments: names, short names, groups and versions, and suggestions for misspelled ones."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.api import GroupVersionKind
from pyctrl.client import Client, ResourceMapping
from pyctrl.client._discovery.resource_argument import resources_for, similar_resources
from pyctrl.errors import UnknownKind
from tests.unit.client._fake_server import FakeServer


def served(group: str, version: str, kind: str, plural: str, *short_names: str) -> ResourceMapping:
    gvk = GroupVersionKind(group, version, kind)
    return ResourceMapping(
        gvk=gvk, plural=plural, namespaced=True, singular=kind.lower(), short_names=tuple(short_names)
    )


CLUSTER = (
    served("", "v1", "Pod", "pods", "po"),
    served("", "v1", "Event", "events", "ev"),
    served("", "v1", "Service", "services", "svc"),
    served("events.k8s.io", "v1", "Event", "events", "ev"),
    served("apps", "v1", "Deployment", "deployments", "deploy"),
    served("autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", "hpa"),
    served("autoscaling", "v1", "HorizontalPodAutoscaler", "horizontalpodautoscalers", "hpa"),
    served("kopf.dev", "v1", "EphemeralVolumeClaim", "ephemeralvolumeclaims", "evcs", "evc"),
    served("serving.test", "v1", "Service", "services"),
    served("odd.test", "v1", "Po", "po"),
)


def paths(text: str) -> list[str]:
    return [f"{mapping.gvr.path}/{mapping.plural}" for mapping in resources_for(text, CLUSTER)]


@pytest.mark.parametrize(
    "text",
    [
        "ephemeralvolumeclaims",
        "ephemeralvolumeclaim",
        "EphemeralVolumeClaim",
        "evc",
        "EVCS",
        "evc.kopf.dev",
        "EphemeralVolumeClaims.kopf.dev",
        "ephemeralvolumeclaims.v1.kopf.dev",
        "EphemeralVolumeClaim.v1.kopf.dev",
    ],
)
def test_every_name_that_kubectl_takes_is_taken(text: str) -> None:
    """Plural, singular, kind and short names resolve in any case, with or without group and version."""
    assert paths(text) == ["/apis/kopf.dev/v1/ephemeralvolumeclaims"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("pods.v1.", ["/api/v1/pods"]),
        ("deploy.v1.apps", ["/apis/apps/v1/deployments"]),
        ("hpa", ["/apis/autoscaling/v2/horizontalpodautoscalers"]),
        ("hpa.v1.autoscaling", ["/apis/autoscaling/v1/horizontalpodautoscalers"]),
        ("events", ["/api/v1/events", "/apis/events.k8s.io/v1/events"]),
        ("events.events.k8s.io", ["/apis/events.k8s.io/v1/events"]),
        ("services", ["/api/v1/services", "/apis/serving.test/v1/services"]),
        ("svc", ["/api/v1/services"]),
        ("po", ["/apis/odd.test/v1/po"]),
        ("deploy.batch", []),
        ("deployments.v2.apps", []),
        ("", []),
    ],
)
def test_versions_groups_and_order_decide(text: str, found: list[str]) -> None:
    """The default is the preferred version; groups have the server's order; full names win over short names."""
    assert paths(text) == found


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("ephemeralvolumclaims", "ephemeralvolumeclaims.kopf.dev (evcs, evc)"),
        ("evcc", "ephemeralvolumeclaims.kopf.dev (evcs, evc)"),
        ("kopf.dev", "ephemeralvolumeclaims.kopf.dev (evcs, evc)"),
        ("deployment.app", "deployments.apps (deploy)"),
        ("pds", "pods (po)"),
        ("gadget.kopf.dev", "ephemeralvolumeclaims.kopf.dev (evcs, evc)"),
        ("zzz", "v1 and the groups events.k8s.io, apps, autoscaling, kopf.dev, serving.test, odd.test"),
    ],
)
def test_a_mistake_is_answered_with_what_is_near(text: str, first: str) -> None:
    """A typo suggests the resource, a group its resources, and other names the groups of the cluster."""
    assert similar_resources(text, CLUSTER)[0] == first


def document(group: str, plural: str, kind: str, *short_names: str) -> dict[str, Any]:
    resource = {
        "resource": plural,
        "responseKind": {"kind": kind},
        "scope": "Namespaced",
        "singularResource": kind.lower(),
        "verbs": ["get"],
        "shortNames": list(short_names),
    }
    version = {"version": "v1", "resources": [resource]}
    return {"kind": "APIGroupDiscoveryList", "items": [{"metadata": {"name": group}, "versions": [version]}]}


async def test_discovery_knows_what_a_name_means(client: Client, server: FakeServer) -> None:
    """An unknown name refreshes discovery; if still unknown, the error has suggestions."""
    for _ in range(2):
        server.reply(document("", "pods", "Pod", "po"))
        server.reply(document("kopf.dev", "ephemeralvolumeclaims", "EphemeralVolumeClaim", "evc"))
    (found,) = await client.discovery.named("evc")
    assert found.gvk == GroupVersionKind("kopf.dev", "v1", "EphemeralVolumeClaim")
    with pytest.raises(UnknownKind, match=r"does not serve 'epv' \(it serves .*ephemeralvolumeclaims.kopf.dev \(evc\)"):
        await client.discovery.named("epv")
    assert len(server.asked) == 4


async def test_a_kind_that_was_learnt_does_not_stand_for_all(client: Client, server: FakeServer) -> None:
    """A name is looked up among all resources, even if `learn` added a kind with that name."""
    client.discovery.learn(served("kopf.dev", "v1", "Pod", "pods"))
    server.reply(document("", "pods", "Pod", "po"))
    server.reply(document("kopf.dev", "pods", "Pod"))
    assert [mapping.gvk.group for mapping in await client.discovery.named("pods")] == ["", "kopf.dev"]
