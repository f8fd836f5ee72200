"""Defaults of pods and pod templates."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._registry._pods.defaults import default_pod, default_template


def _pod(**spec: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "c", "image": "i"}], **spec}}


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("busybox", "Always"),
        ("busybox:latest", "Always"),
        ("busybox:1", "IfNotPresent"),
        ("registry:5000/busybox", "Always"),
        ("busybox:latest@sha256:0", "IfNotPresent"),
    ],
)
def test_the_pull_policy_follows_from_the_tag(image: str, policy: str) -> None:
    """An image with a fixed tag or a digest is pulled only if not present; `latest` is always pulled."""
    pod = _pod(containers=[{"name": "c", "image": image}])
    default_pod(pod)
    assert pod["spec"]["containers"][0]["imagePullPolicy"] == policy


def test_requests_default_to_limits_in_pods_only() -> None:
    """A template keeps what the client sent."""
    resources = {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}}
    for default, memory in ((default_pod, "1Gi"), (default_template, None)):
        pod = _pod(containers=[{"name": "c", "image": "i", "resources": {k: dict(v) for k, v in resources.items()}}])
        default(pod)
        requests = pod["spec"]["containers"][0]["resources"]["requests"]
        assert (requests["cpu"], requests.get("memory")) == ("500m", memory)


def test_volumes_ports_and_probes() -> None:
    """A volume without a source is an emptyDir; host ports follow from the host network."""
    probe = {"httpGet": {"port": 80}}
    container = {"name": "c", "image": "i", "ports": [{"containerPort": 80}], "livenessProbe": probe}
    volumes = [{"name": "a"}, {"name": "b", "configMap": {"name": "m"}}]
    pod = _pod(containers=[container], volumes=volumes, hostNetwork=True, serviceAccountName="bot")
    default_pod(pod)
    assert volumes == [{"name": "a", "emptyDir": {}}, {"name": "b", "configMap": {"name": "m", "defaultMode": 0o644}}]
    assert container["ports"] == [{"containerPort": 80, "protocol": "TCP", "hostPort": 80}]
    assert probe == {
        "httpGet": {"port": 80, "path": "/", "scheme": "HTTP"},
        "timeoutSeconds": 1,
        "periodSeconds": 10,
        "successThreshold": 1,
        "failureThreshold": 3,
    }
    assert (pod["spec"]["serviceAccount"], pod["spec"]["restartPolicy"]) == ("bot", "Always")
