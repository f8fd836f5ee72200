"""The admission plugin AlwaysPullImages."""

from __future__ import annotations

from tests.unit.apiserver.admission.plugins._admitted import PODS, asking, pod


def test_always_pull_images_and_extended_resources_change_pods() -> None:
    """Images are always pulled, and pods tolerate the taints of the devices that they request."""
    body = pod()
    body["spec"]["containers"][0] |= {
        "imagePullPolicy": "Never",
        "resources": {"requests": {"example.com/gpu": "1"}, "limits": {"example.com/gpu": "1"}},
    }
    spec = asking("AlwaysPullImages", "ExtendedResourceToleration")("POST", PODS, body)[1]["spec"]
    assert spec["containers"][0]["imagePullPolicy"] == "Always"
    assert {"key": "example.com/gpu", "operator": "Exists", "effect": "NoSchedule"} in spec["tolerations"]
