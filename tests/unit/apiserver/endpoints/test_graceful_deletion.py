"""Deletion: finalizers, propagation policy, preconditions and the grace period of pods."""

from __future__ import annotations

import pytest

from tests.unit.apiserver._kit import CONFIGMAPS, MERGE, Asker
from tests.unit.apiserver._objects import definition

PODS = "/api/v1/namespaces/default/pods"


def test_finalizers_hold_an_object_until_the_last_is_gone(ask: Asker) -> None:
    """A delete marks the object, updates still work, and the write that removes the last finalizer removes it."""
    ask.make("a", finalizers=["x.io/f", "x.io/g"])
    code, marked = ask("DELETE", f"{CONFIGMAPS}/a")
    assert (code, marked["kind"], "deletionTimestamp" in marked["metadata"]) == (200, "ConfigMap", True)
    ask.change("a", metadata={"finalizers": ["x.io/g"]})
    assert ask("GET", f"{CONFIGMAPS}/a")[0] == 200
    ask.change("a", metadata={"finalizers": None})
    assert ask("GET", f"{CONFIGMAPS}/a")[0] == 404


@pytest.mark.parametrize(
    ("policy", "finalizers"), [("Foreground", ["foregroundDeletion"]), ("Orphan", ["orphan"]), ("Background", None)]
)
def test_propagation_is_written_as_a_finalizer(ask: Asker, policy: str, finalizers: list[str] | None) -> None:
    """The propagation policy becomes a finalizer on the owner, for the garbage collector."""
    ask.make("a")
    _, answer = ask("DELETE", f"{CONFIGMAPS}/a", {"propagationPolicy": policy})
    if finalizers is None:
        assert answer["status"] == "Success"
    else:
        assert answer["metadata"]["finalizers"] == finalizers


@pytest.mark.parametrize(
    ("second", "finalizers"),
    [
        (None, ["x.io/f", "foregroundDeletion"]),
        ("Foreground", ["x.io/f", "foregroundDeletion"]),
        ("Orphan", ["x.io/f", "orphan"]),
        ("Background", ["x.io/f"]),
    ],
)
def test_a_second_delete_may_change_the_propagation(ask: Asker, second: str | None, finalizers: list[str]) -> None:
    """A delete with a policy replaces that of an earlier one; without a policy it stays."""
    ask.make("a", finalizers=["x.io/f"])
    ask("DELETE", f"{CONFIGMAPS}/a", {"propagationPolicy": "Foreground"})
    ask("DELETE", f"{CONFIGMAPS}/a", {"propagationPolicy": second} if second else None)
    assert ask("GET", f"{CONFIGMAPS}/a")[1]["metadata"]["finalizers"] == finalizers


def test_a_write_during_the_grace_period_does_not_remove_a_pod(ask: Asker) -> None:
    """A pod that runs on a node stays until the kubelet deletes it with a grace period of zero."""
    spec = {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]}
    ask("POST", PODS, {"metadata": {"name": "p"}, "spec": spec})
    _, marked = ask("DELETE", f"{PODS}/p")
    assert marked["metadata"]["deletionGracePeriodSeconds"] == 30
    ask("PATCH", f"{PODS}/p", {"metadata": {"labels": {"k": "v"}}}, headers=MERGE)
    assert ask("GET", f"{PODS}/p")[0] == 200
    ask("DELETE", f"{PODS}/p", {"gracePeriodSeconds": 0})
    assert ask("GET", f"{PODS}/p")[0] == 404


@pytest.mark.parametrize(
    ("options", "finalizers", "has_warning"),
    [
        ({}, ["orphan"], True),
        ({"propagationPolicy": "Orphan"}, ["orphan"], False),
        ({"propagationPolicy": "Background"}, None, False),
        ({"orphanDependents": False}, None, False),
    ],
)
def test_a_job_leaves_its_pods(
    ask: Asker, options: dict[str, object], finalizers: list[str] | None, has_warning: bool
) -> None:
    """A delete of a Job orphans its pods unless the client wants something else, and warns about that, as upstream."""
    jobs = "/apis/batch/v1/namespaces/default/jobs"
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
    ask("POST", jobs, {"metadata": {"name": "j"}, "spec": {"template": template}})
    answer = ask.answer("DELETE", f"{jobs}/j", options)
    found = ask("GET", f"{jobs}/j")[1]
    assert found.get("metadata", {}).get("finalizers") == finalizers
    warnings = [value for name, value in answer.headers if name == "Warning"]
    assert [("preserved by default" in each) for each in warnings] == [True] * has_warning


@pytest.mark.parametrize(("field", "name"), [("uid", "UID"), ("resourceVersion", "ResourceVersion")])
def test_preconditions_of_a_namespace_have_their_own_message(ask: Asker, field: str, name: str) -> None:
    """The handlers of namespaces and definitions check preconditions themselves, and word the conflict so."""
    ask("POST", "/api/v1/namespaces", {"metadata": {"name": "n"}})
    code, status = ask("DELETE", "/api/v1/namespaces/n", {"preconditions": {field: "1"}})
    why = f"Precondition failed: {name} in precondition: 1, {name} in object meta: "
    assert (code, status["details"]["kind"], why in status["message"]) == (409, "namespaces", True)


def test_the_first_delete_of_a_definition_sets_no_finalizer(ask: Asker) -> None:
    """The propagation policy of a definition counts from its second delete on."""
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    made = definition({"type": "object"})
    made["metadata"]["finalizers"] = ["x.io/f"]
    ask("POST", definitions, made)
    path, policy = f"{definitions}/{made['metadata']['name']}", {"propagationPolicy": "Foreground"}
    assert "foregroundDeletion" not in ask("DELETE", path, policy)[1]["metadata"]["finalizers"]
    assert "foregroundDeletion" in ask("DELETE", path, policy)[1]["metadata"]["finalizers"]


def test_the_second_delete_of_a_definition_has_a_grace_period(ask: Asker) -> None:
    """A definition that finalizers hold gets deletionGracePeriodSeconds by its second delete, as other kinds by one."""
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    made = definition({"type": "object"})
    made["metadata"]["finalizers"] = ["x.io/f"]
    ask("POST", definitions, made)
    path = f"{definitions}/{made['metadata']['name']}"
    found = [ask("DELETE", path)[1]["metadata"].get("deletionGracePeriodSeconds") for _ in range(2)]
    assert found == [None, 0]


def test_the_delete_of_a_collection_of_definitions_has_the_common_message(ask: Asker) -> None:
    """A precondition that one definition of a collection does not meet is worded as for other kinds."""
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    ask("POST", definitions, definition({"type": "object"}))
    code, status = ask("DELETE", definitions, {"preconditions": {"uid": "1"}})
    assert (code, status["details"]["kind"]) == (409, "CustomResourceDefinition")
    assert "the UID in the precondition (1) does not match the UID in record" in status["message"]
