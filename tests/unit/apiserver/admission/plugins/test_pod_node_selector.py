"""The admission plugin PodNodeSelector."""

from __future__ import annotations

from tests.unit.apiserver.admission.plugins._admitted import asking, pod

ANNOTATION = "scheduler.alpha.kubernetes.io/node-selector"
PODS = "/api/v1/namespaces/team/pods"


def test_the_selector_of_the_namespace_is_added_to_that_of_the_pod() -> None:
    """A new pod has the labels of its namespace and its own; a pod with another value for one of them is refused."""
    ask = asking("PodNodeSelector")
    ask("POST", "/api/v1/namespaces", {"metadata": {"name": "team", "annotations": {ANNOTATION: "disk=ssd, zone = a"}}})
    made = ask("POST", PODS, pod("p", nodeSelector={"cpu": "fast", "zone": "a"}))[1]
    assert made["spec"]["nodeSelector"] == {"disk": "ssd", "zone": "a", "cpu": "fast"}
    code, status = ask("POST", PODS, pod("q", nodeSelector={"disk": "hdd"}))
    assert code == 403
    assert "pod node label selector conflicts with its namespace node label selector" in status["message"]


def test_an_annotation_that_is_no_selector_refuses_every_pod() -> None:
    """With an invalid annotation the creation of pods fails with 500, as in kube-apiserver."""
    ask = asking("PodNodeSelector")
    ask("POST", "/api/v1/namespaces", {"metadata": {"name": "team", "annotations": {ANNOTATION: "disk"}}})
    code, status = ask("POST", PODS, pod())
    assert code == 500
    assert "invalid selector: disk" in status["message"]
