"""Fingerprint: equal for worlds that differ in identity only."""

from __future__ import annotations

import pytest

from pyctrl.simulation._history import ObjectId
from pyctrl.simulation._oracle import fingerprint
from pyctrl.simulation._oracle.names import generated_prefix
from pyctrl.simulation._run import State
from tests.unit.simulation.oracle._scene import PARENT, Json, Scene


def scene(seed: int) -> Scene:
    """Return a parent with two generated pods, which its status names."""
    world = Scene(seed)
    world.create(PARENT, {"spec": {"size": 2}}, by="user")
    names = sorted(
        world.create("pods default/web-*", {"spec": {"nodeName": f"n{seed}"}}, owner=PARENT).name for _ in "ab"
    )
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": f"2026-01-01T00:00:{10 + seed}Z"}
    world.change(PARENT, {"status": {"nodes": names, "observedGeneration": 1, "conditions": [ready]}})
    return world


def test_seeds_do_not_count() -> None:
    """Worlds with other uids, versions, times, nodes and generated names have one fingerprint."""
    assert len({fingerprint(scene(seed).state()) for seed in range(10)}) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"spec": {"size": 3}},
        {"status": {"nodes": []}},
        {"status": {"nodes": ["web-bbbbb", "web-ccccc"]}},
        {"status": {"observedGeneration": 0}},
        {"metadata": {"labels": {"a": "b"}}},
        {"metadata": {"finalizers": ["example.com/done"]}},
        {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}},
        {
            "metadata": {
                "ownerReferences": [{"kind": "Thing", "name": "x", "uid": "0" * 8 + "-0000-0000-0000-" + "0" * 12}]
            }
        },
    ],
)
def test_content_counts(change: Json) -> None:
    """A field, a name of a pod that does not exist, and an observed generation that is behind count."""
    world = scene(0)
    before = fingerprint(world.state())

    world.change(PARENT, change)

    assert fingerprint(world.state()) != before


def test_a_child_more_counts() -> None:
    """A second child with a generated name changes the fingerprint."""
    world = scene(0)
    before = fingerprint(world.state())

    world.create("pods default/web-*", {"spec": {"nodeName": "n0"}}, owner=PARENT)

    assert fingerprint(world.state()) != before


def test_a_generation_that_is_observed_does_not_count() -> None:
    """How often a spec was changed does not count, as long as its last change was observed."""
    world = scene(0)
    before = fingerprint(world.state())

    world.change(PARENT, {"spec": {"size": 3}})
    world.change(PARENT, {"spec": {"size": 2}, "status": {"observedGeneration": 3}})

    assert fingerprint(world.state()) == before


def test_the_number_of_rollouts_does_not_count() -> None:
    """A Deployment that rolled out once more, and keeps the old ReplicaSet, has the same fingerprint."""
    prints = []
    for revisions in (["5d4f7"], ["7c9b8", "5d4f7"]):
        world = Scene()
        revision = {"metadata": {"annotations": {"deployment.kubernetes.io/revision": str(len(revisions))}}}
        world.create("deployments.apps default/web", revision, by="user")
        world.find("deployments.apps default/web")["kind"] = "Deployment"
        name = ""
        for value in revisions:
            name = f"replicasets.apps default/web-{value}"
            labels = {"metadata": {"labels": {"pod-template-hash": value}, **revision["metadata"]}}
            replicas = 1 if value == revisions[-1] else 0
            world.create(name, {**labels, "spec": {"replicas": replicas}}, owner="deployments.apps default/web", by="")
            world.find(name)["metadata"]["ownerReferences"][0]["kind"] = "Deployment"
        world.create(f"pods default/web-{revisions[-1]}-*", {}, owner=name, by="")
        prints.append(fingerprint(world.state()))

    assert prints[0] == prints[1]


def test_the_order_of_conditions_and_endpoints_does_not_count() -> None:
    """Conditions, and the addresses of an EndpointSlice, have no order."""
    conditions = [{"type": "Ready", "status": "True"}, {"type": "Synced", "status": "True"}]
    endpoints = [{"addresses": [f"10.0.0.{n}"], "targetRef": {"name": f"web-{n}"}} for n in (1, 2)]
    prints = set()
    for order in (1, -1):
        world = Scene()
        world.create(PARENT, {"status": {"conditions": conditions[::order]}})
        world.create("endpointslices.discovery.k8s.io default/web", {"endpoints": endpoints[::order]})
        prints.add(fingerprint(world.state()))

    assert len(prints) == 1


def test_the_order_of_a_list_counts() -> None:
    """The order of other lists has a meaning."""
    prints = set()
    for order in (1, -1):
        world = Scene()
        world.create(PARENT, {"spec": {"steps": ["build", "test"][::order]}})
        prints.add(fingerprint(world.state()))

    assert len(prints) == 2


def test_names_made_of_generated_names_do_not_count() -> None:
    """A name, a key or a text with a generated name in it is the same in every run."""
    prints = set()
    for seed in range(5):
        world = Scene(seed)
        pod = world.create("pods default/web-*").name
        world.create(f"configmaps default/{pod}-config", {"data": {pod: f"made for {pod}, at once"}})
        world.create(f"persistentvolumeclaims default/data-{pod}")
        prints.add(fingerprint(world.state()))

    assert len(prints) == 1


def test_addresses_that_the_cluster_gives_do_not_count() -> None:
    """The address of a pod is the same in every run, wherever it is written; another address is not."""
    prints = []
    for address, written in (("10.0.0.7", "10.0.0.7"), ("10.0.0.9", "10.0.0.9"), ("10.0.0.9", "10.0.0.7")):
        world = Scene()
        world.create("pods default/web", {"status": {"podIP": address}}, by="")
        world.create(PARENT, {"status": {"endpoint": f"{written}:80"}})
        prints.append(fingerprint(world.state()))

    assert prints[0] == prints[1] != prints[2]


def test_versions_that_an_operator_notes_do_not_count() -> None:
    """A resource version does not count wherever it is written, as long as the key says that it is one."""
    prints = set()
    for version in ("107", "212"):
        world = Scene()
        annotations = {"example.com/secret-resource-version": version}
        world.create(PARENT, {"metadata": {"annotations": annotations}, "status": {"secretResourceVersion": version}})
        prints.add(fingerprint(world.state()))

    assert len(prints) == 1


def test_the_state_of_external_systems_counts() -> None:
    """An external system in another state changes the fingerprint; the order of a set does not."""
    one, same, other = ({"Buckets": {"names": names}} for names in ({"a", "b"}, {"b", "a"}, {"a"}))

    assert fingerprint(State({}, one)) == fingerprint(State({}, same)) != fingerprint(State({}, other))


def test_records_of_the_cluster_do_not_count() -> None:
    """Events, Leases and the revisions of a StatefulSet are not compared."""
    world = Scene()
    before = fingerprint(world.state())

    for target in ("events default/e", "leases.coordination.k8s.io default/l", "controllerrevisions.apps default/r"):
        world.create(target, by="")

    assert fingerprint(world.state()) == before


def test_own_fields_keep_their_meaning() -> None:
    """A field of a custom resource that is called like one that the cluster assigns does count."""
    prints = set()
    for node in ("a", "b"):
        world = Scene()
        world.create(PARENT, {"spec": {"nodeName": node, "restartCount": 1}})
        prints.add(fingerprint(world.state()))

    assert len(prints) == 2


def test_an_empty_list_in_a_status_is_as_none() -> None:
    """A status that was never written, because there is nothing to report, is that of the world where there was."""
    bare, reported = Scene(1), Scene(2)
    for world in (bare, reported):
        world.create(PARENT, {"spec": {"size": 0}}, by="user")
    reported.change(PARENT, {"status": {"nodes": []}})

    assert fingerprint(bare.state()) == fingerprint(reported.state())


@pytest.mark.parametrize(
    ("name", "prefix"),
    [
        ("pvc-2130260c-8c69-478f-bd42-f69765111656", ""),
        ("hello-1767225900", "hello-"),
        ("db-backup-20260101120000", "db-backup-"),
    ],
)
def test_the_digits_of_a_uid_are_no_time(name: str, prefix: str) -> None:
    """A name that ends with a number is taken for one with a time in it, but not one that ends with a uid."""
    assert generated_prefix(ObjectId("things", "", name), {}) == prefix
