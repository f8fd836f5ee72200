"""Graceful deletion of pods."""

from __future__ import annotations

from tests.unit.apiserver._kit import Asker
from tests.unit.apiserver._objects import pod

PODS = "/api/v1/namespaces/default/pods"


def test_a_running_pod_is_given_its_grace(ask: Asker) -> None:
    """A pod on a node stays, marked as deleted, until the kubelet deletes it with a grace period of zero."""
    ask("POST", PODS, {**pod(), "spec": {**pod()["spec"], "nodeName": "n", "terminationGracePeriodSeconds": 7}})
    _, marked = ask("DELETE", f"{PODS}/p")
    assert marked["metadata"]["deletionGracePeriodSeconds"] == 7
    assert ask("GET", f"{PODS}/p")[0] == 200
    _, same = ask("DELETE", f"{PODS}/p", gracePeriodSeconds="20")
    assert same["metadata"]["deletionGracePeriodSeconds"] == 7
    ask("DELETE", f"{PODS}/p", gracePeriodSeconds="0")
    assert ask("GET", f"{PODS}/p")[0] == 404


def test_a_pod_on_no_node_goes_at_once(ask: Asker) -> None:
    """An unscheduled pod has no kubelet that reports it as stopped, so it is removed at once."""
    ask("POST", PODS, pod())
    code, gone = ask("DELETE", f"{PODS}/p")
    assert (code, gone["kind"]) == (200, "Pod")
    assert ask("GET", f"{PODS}/p")[0] == 404
