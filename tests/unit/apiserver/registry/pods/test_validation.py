"""Validation of pods and of the specs of pod templates."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._registry._pods.validation import validate_pod_spec

SPEC: dict[str, Any] = {"containers": [], "restartPolicy": "Always", "dnsPolicy": "ClusterFirst"}


def _fields(**fields: Any) -> list[str]:
    """Return the fields that a spec without containers is refused for, besides the containers."""
    found = [each.field for each in validate_pod_spec({**SPEC, **fields}, "spec")]
    return [each for each in found if each != "spec.containers"]


@pytest.mark.parametrize(
    ("fields", "refused"),
    [
        ({}, []),
        ({"restartPolicy": "Sometimes"}, ["spec.restartPolicy"]),
        ({"volumes": [{"name": "v", "emptyDir": {}}] * 2}, ["spec.volumes[1].name"]),
        ({"volumes": [{"name": "v", "configMap": {}}]}, ["spec.volumes[0].configMap.name"]),
        ({"tolerations": [{"operator": "Equal"}]}, ["spec.tolerations[0].operator"]),
        ({"tolerations": [{"operator": "Exists", "tolerationSeconds": 1}]}, ["spec.tolerations[0].effect"]),
        ({"volumes": [{"name": "v"}]}, ["spec.volumes[0]"]),
        ({"dnsPolicy": "None"}, ["spec.dnsConfig"]),
        (
            {"hostAliases": [{"ip": "x", "hostnames": ["a_b"]}]},
            ["spec.hostAliases[0].ip", "spec.hostAliases[0].hostnames[0]"],
        ),
        ({"hostUsers": False, "hostPID": True}, ["spec.HostPID"]),
        ({"activeDeadlineSeconds": 0}, ["spec.activeDeadlineSeconds"]),
    ],
)
def test_an_invalid_field_is_named(fields: dict[str, Any], refused: list[str]) -> None:
    """The error names the path of the invalid field, and valid fields have no error."""
    assert _fields(**fields) == refused


def test_ports_of_the_host() -> None:
    """The container ports of a pod in the host's network are ports of the host."""
    container = {
        "name": "c",
        "image": "i",
        "imagePullPolicy": "Always",
        "terminationMessagePolicy": "File",
        "ports": [{"containerPort": 80, "protocol": "TCP"}],
    }
    spec = {**SPEC, "hostNetwork": True, "containers": [container]}
    assert [each.field for each in validate_pod_spec(spec, "spec", is_pod=True)] == [
        "spec.containers[0].ports[0].hostPort"
    ]
    assert list(validate_pod_spec(spec, "spec")) == []
