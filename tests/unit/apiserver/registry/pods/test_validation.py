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
        ({"volumes": [{"name": "v"}, {"name": "v"}]}, ["spec.volumes[1].name"]),
        ({"volumes": [{"name": "v", "configMap": {}}]}, ["spec.volumes[0].configMap.name"]),
        ({"tolerations": [{"operator": "Equal"}]}, ["spec.tolerations[0].operator"]),
        ({"tolerations": [{"operator": "Exists", "tolerationSeconds": 1}]}, ["spec.tolerations[0].effect"]),
        ({"activeDeadlineSeconds": 0}, ["spec.activeDeadlineSeconds"]),
    ],
)
def test_an_invalid_field_is_named(fields: dict[str, Any], refused: list[str]) -> None:
    """The error names the path of the invalid field, and valid fields have no error."""
    assert _fields(**fields) == refused


def test_containers_can_mount_only_volumes_with_one_complete_source() -> None:
    """A volume with two sources, or without the field that its source requires, is not mountable."""
    both = {"name": "both", "emptyDir": {}, "hostPath": {"path": "/x"}}
    volumes = [{"name": "good", "emptyDir": {}}, both, {"name": "bare", "secret": {}}]
    assert volume_names({"volumes": volumes}) == {"good"}


def test_an_update_may_change_the_image_but_not_the_node() -> None:
    """An update of a pod may change the image of a container, and is refused when it changes another field."""
    container = {"name": "c", "image": "a:1", "imagePullPolicy": "Always", "terminationMessagePolicy": "File"}
    old = {"spec": {**SPEC, "containers": [container]}}
    image = {"spec": {**SPEC, "containers": [{**container, "image": "a:2"}]}}
    assert list(validate_pod(image, old)) == []

    node = {"spec": {**old["spec"], "nodeName": "node-1"}}
    assert [each.field for each in validate_pod(node, old)] == ["spec"]


def test_an_update_keeps_tolerations() -> None:
    """An update may add tolerations and change their seconds, but not remove one."""
    first = {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 1}
    old = {"spec": {**SPEC, "tolerations": [first]}}
    more = {"spec": {**SPEC, "tolerations": [{**first, "tolerationSeconds": 2}, {"key": "b", "operator": "Exists"}]}}
    assert "spec.tolerations" not in [each.field for each in validate_pod(more, old)]
    assert "spec.tolerations" in [each.field for each in validate_pod({"spec": SPEC}, old)]
