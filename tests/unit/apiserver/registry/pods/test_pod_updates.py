"""Validation of pods and of their updates."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._registry._pods.pod_updates import validate_pod
from tests.unit.apiserver.registry._refusals import refusals

CONTAINER: dict[str, Any] = {
    "name": "c",
    "image": "a:1",
    "imagePullPolicy": "Always",
    "terminationMessagePolicy": "File",
}
TOLERATION = {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 1}
SPEC: dict[str, Any] = {
    "containers": [CONTAINER],
    "restartPolicy": "Always",
    "dnsPolicy": "ClusterFirst",
    "tolerations": [TOLERATION],
    "activeDeadlineSeconds": 5,
}


def _pod(**fields: Any) -> dict[str, Any]:
    return {"metadata": {"name": "p"}, "spec": {**SPEC, **fields}}


@pytest.mark.parametrize(
    ("fields", "refused"),
    [
        ({"containers": [{**CONTAINER, "image": "a:2"}]}, []),
        ({"tolerations": [{**TOLERATION, "tolerationSeconds": 2}, {"key": "b", "operator": "Exists"}]}, []),
        ({"activeDeadlineSeconds": 4}, []),
        (
            {"containers": [CONTAINER, {**CONTAINER, "name": "d"}]},
            ["spec.containers: Forbidden: pod updates may not add or remove containers"],
        ),
        (
            {"tolerations": []},
            ["spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSecond"],
        ),
        (
            {"activeDeadlineSeconds": 6},
            ["spec.activeDeadlineSeconds: Invalid value: 6: must be less than or equal to previous value"],
        ),
        (
            {"nodeName": "n"},
            ["spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.i"],
        ),
        (
            {"schedulingGates": [{"name": "g"}]},
            ["spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate"],
        ),
    ],
)
def test_updates(fields: dict[str, Any], refused: list[str]) -> None:
    """An update may change images, the deadline to an earlier one, and add tolerations."""
    assert refusals(validate_pod(_pod(**fields), _pod())) == refused


def test_the_refusal_of_an_update_has_the_differences() -> None:
    """The message about a field that may not change ends with the differences of the two specs."""
    found = [each.message for each in validate_pod(_pod(nodeName="n"), _pod())]
    assert '\n- "NodeName": "",\n+ "NodeName": "n",\n' in found[0]


def test_a_pod_with_gates_may_narrow_its_node_selector() -> None:
    """While a pod has scheduling gates, labels may be added to its node selector, but not changed."""
    old = _pod(schedulingGates=[{"name": "g"}], nodeSelector={"a": "b"})
    added = _pod(schedulingGates=[{"name": "g"}], nodeSelector={"a": "b", "c": "d"})
    changed = _pod(schedulingGates=[{"name": "g"}], nodeSelector={"a": "x"})
    assert refusals(validate_pod(added, old)) == []
    assert [each.field for each in validate_pod(changed, old)] == ["spec.nodeSelector"]


def test_new_pods() -> None:
    """A new pod has no ephemeral containers, no node while it has gates, and needs an account for a token."""
    token = {"name": "t", "projected": {"sources": [{"serviceAccountToken": {"path": "t", "expirationSeconds": 600}}]}}
    pod = _pod(nodeName="n", schedulingGates=[{"name": "g"}], volumes=[token])
    assert [each.field for each in validate_pod(pod, None)] == [
        "spec.volumes[0].projected.sources[0].serviceAccountToken",
        "spec.nodeName",
    ]
