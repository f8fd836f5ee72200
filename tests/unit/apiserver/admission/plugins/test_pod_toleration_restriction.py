"""The admission plugins PodTolerationRestriction and PodNodeSelector."""

from __future__ import annotations

from tests.unit.apiserver.admission.plugins._admitted import asking, pod


def test_annotations_of_a_namespace_restrict_its_pods() -> None:
    """PodNodeSelector and PodTolerationRestriction apply the annotations of the namespace."""
    ask = asking("PodNodeSelector", "PodTolerationRestriction")
    prefix = "scheduler.alpha.kubernetes.io"
    annotations = {
        f"{prefix}/node-selector": "disk=ssd",
        f"{prefix}/defaultTolerations": '[{"key": "k", "operator": "Exists"}]',
    }
    ask("POST", "/api/v1/namespaces", {"metadata": {"name": "team", "annotations": annotations}})
    spec = ask("POST", "/api/v1/namespaces/team/pods", pod())[1]["spec"]
    assert spec["nodeSelector"] == {"disk": "ssd"}
    assert {"key": "k", "operator": "Exists"} in spec["tolerations"]
    code, status = ask("POST", "/api/v1/namespaces/team/pods", pod("q", nodeSelector={"disk": "hdd"}))
    assert (code, "conflicts with its namespace node label selector" in status["message"]) == (403, True)


def test_tolerations_outside_of_the_whitelist_are_refused() -> None:
    """A pod may only have tolerations of the annotation of its namespace; others get 500, as from kube-apiserver."""
    ask = asking("PodTolerationRestriction", disable=("DefaultTolerationSeconds",))
    allowed = {"scheduler.alpha.kubernetes.io/tolerationsWhitelist": '[{"key": "k", "operator": "Exists"}]'}
    ask("POST", "/api/v1/namespaces", {"metadata": {"name": "team", "annotations": allowed}})
    code, status = ask("POST", "/api/v1/namespaces/team/pods", pod(tolerations=[{"key": "x", "operator": "Exists"}]))
    assert (code, "whitelist" in status["message"]) == (500, True)
    made = ask("POST", "/api/v1/namespaces/team/pods", pod("q", tolerations=[{"key": "k", "operator": "Exists"}]))
    assert made[0] == 201
