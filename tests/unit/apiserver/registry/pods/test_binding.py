"""Bindings of pods."""

from __future__ import annotations

from tests.unit.apiserver._kit import Asker
from tests.unit.apiserver._objects import pod

PODS = "/api/v1/namespaces/default/pods"


def test_a_binding_schedules_the_pod_once(ask: Asker) -> None:
    """A Binding sets the node and the condition of the pod; a second one is a conflict."""
    ask("POST", PODS, pod())
    binding = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}}
    assert ask("POST", f"{PODS}/p/binding", binding)[0] == 201
    _, bound = ask("GET", f"{PODS}/p")
    assert bound["spec"]["nodeName"] == "n"
    assert [(each["type"], each["status"]) for each in bound["status"]["conditions"]] == [("PodScheduled", "True")]
    assert ask("POST", f"{PODS}/p/binding", binding)[0] == 409
