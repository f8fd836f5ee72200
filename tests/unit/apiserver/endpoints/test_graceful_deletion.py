"""Deletion: finalizers hold an object, propagation is written down, grace is a pod's."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.apiserver._kit import CONFIGMAPS, MERGE, Asker

PODS = "/api/v1/namespaces/default/pods"


def test_finalizers_hold_an_object_until_the_last_is_gone(ask: Asker) -> None:
    """A delete marks it, updates go on, and the write that takes the last finalizer is its end."""
    ask.make("a", finalizers=["x.io/f", "x.io/g"])
    code, marked = ask("DELETE", f"{CONFIGMAPS}/a")
    assert (code, marked["kind"], "deletionTimestamp" in marked["metadata"]) == (200, "ConfigMap", True)
    ask.change("a", metadata={"finalizers": ["x.io/g"]})
    assert ask("GET", f"{CONFIGMAPS}/a")[0] == 200
    ask.change("a", metadata={"finalizers": None})
    assert ask("GET", f"{CONFIGMAPS}/a")[0] == 404


def test_a_second_delete_changes_nothing(ask: Asker) -> None:
    """Deleting what is being deleted is answered with the object as it is."""
    ask.make("a", finalizers=["x.io/f"])
    first = ask("DELETE", f"{CONFIGMAPS}/a")[1]
    assert ask("DELETE", f"{CONFIGMAPS}/a")[1] == first


@pytest.mark.parametrize(
    ("policy", "finalizers"), [("Foreground", ["foregroundDeletion"]), ("Orphan", ["orphan"]), ("Background", None)]
)
def test_propagation_is_written_as_a_finalizer(ask: Asker, policy: str, finalizers: list[str] | None) -> None:
    """What shall become of dependents is told to the garbage collector by a finalizer on the owner."""
    ask.make("a")
    _, answer = ask("DELETE", f"{CONFIGMAPS}/a", {"propagationPolicy": policy})
    if finalizers is None:
        assert answer["status"] == "Success"
    else:
        assert answer["metadata"]["finalizers"] == finalizers


@pytest.mark.parametrize(("field", "value"), [("uid", "another"), ("resourceVersion", "1")])
def test_preconditions_protect_another_object_of_the_same_name(ask: Asker, field: str, value: str) -> None:
    """A delete that names a uid or version deletes that object or nothing."""
    made = ask.make("a")
    assert ask("DELETE", f"{CONFIGMAPS}/a", {"preconditions": {field: value}})[0] == 409
    right = {field: made["metadata"][field]}
    assert ask("DELETE", f"{CONFIGMAPS}/a", {"preconditions": right})[0] == 200


def test_a_collection_is_deleted_by_selector(ask: Asker) -> None:
    """deletecollection takes what is selected, answers it as it was, and leaves the rest."""
    for name, label in (("a", "0"), ("b", "1"), ("c", "0")):
        ask.make(name, labels={"k": label})
    code, gone = ask("DELETE", CONFIGMAPS, labelSelector="k=0")
    assert (code, [item["metadata"]["name"] for item in gone["items"]]) == (200, ["a", "c"])
    assert [item["metadata"]["name"] for item in ask("GET", CONFIGMAPS)[1]["items"]] == ["b"]


def pod(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}], **spec}}


def test_a_running_pod_is_given_its_grace(ask: Asker) -> None:
    """A pod on a node stays, marked, until the kubelet deletes it with a grace of zero."""
    ask("POST", PODS, pod(nodeName="n", terminationGracePeriodSeconds=7))
    _, marked = ask("DELETE", f"{PODS}/p")
    assert marked["metadata"]["deletionGracePeriodSeconds"] == 7
    assert ask("GET", f"{PODS}/p")[0] == 200
    _, same = ask("DELETE", f"{PODS}/p", gracePeriodSeconds="20")
    assert same["metadata"]["deletionGracePeriodSeconds"] == 7
    ask("DELETE", f"{PODS}/p", gracePeriodSeconds="0")
    assert ask("GET", f"{PODS}/p")[0] == 404


def test_a_pod_on_no_node_goes_at_once(ask: Asker) -> None:
    """Nobody would ever report a pod stopped that was never scheduled."""
    ask("POST", PODS, pod())
    code, gone = ask("DELETE", f"{PODS}/p")
    assert (code, gone["kind"]) == (200, "Pod")
    assert ask("GET", f"{PODS}/p")[0] == 404


def test_an_eviction_deletes_the_pod(ask: Asker) -> None:
    """Posting an Eviction is how a pod is asked to leave its node."""
    ask("POST", PODS, pod())
    assert ask("POST", f"{PODS}/p/eviction", {"metadata": {"name": "p"}})[0] == 201
    assert ask("GET", f"{PODS}/p")[0] == 404


def test_a_binding_schedules_the_pod_once(ask: Asker) -> None:
    """Posting a Binding sets the node and the condition; a second one is a conflict."""
    ask("POST", PODS, pod())
    binding = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}}
    assert ask("POST", f"{PODS}/p/binding", binding)[0] == 201
    _, bound = ask("GET", f"{PODS}/p")
    assert bound["spec"]["nodeName"] == "n"
    assert [(each["type"], each["status"]) for each in bound["status"]["conditions"]] == [("PodScheduled", "True")]
    assert ask("POST", f"{PODS}/p/binding", binding)[0] == 409


def test_a_namespace_goes_when_it_is_finalized(ask: Asker) -> None:
    """A deleted namespace waits for its controller to empty spec.finalizers through the finalize door."""
    path = "/api/v1/namespaces/n"
    ask("POST", "/api/v1/namespaces", {"metadata": {"name": "n"}})
    _, marked = ask("DELETE", path)
    assert marked["spec"]["finalizers"] == ["kubernetes"]
    ask("PATCH", path, {"spec": {"finalizers": None}}, headers=MERGE)
    assert ask("GET", path)[0] == 200
    assert ask("PUT", f"{path}/finalize", {**marked, "spec": {"finalizers": []}})[0] == 200
    assert ask("GET", path)[0] == 404


def test_some_namespaces_cannot_be_deleted(ask: Asker) -> None:
    """A cluster without default, kube-system or kube-public is none."""
    assert ask("DELETE", "/api/v1/namespaces/default")[0] == 403
