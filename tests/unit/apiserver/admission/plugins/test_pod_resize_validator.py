"""The admission plugins PodResizeValidator and NodeDeclaredFeatureValidator."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.apiserver.admission.plugins._admitted import PODS, asking, pod

FEATURE = "InPlacePodVerticalScalingInitContainers"


def resize(
    node: dict[str, Any] | None, requests: dict[str, str], *, key: str = "containers", disable: Any = ()
) -> tuple[int, Any]:
    """Resize a container of a pod on a node; return the answer."""
    ask = asking(disable=disable)
    if node is not None:
        ask("POST", "/api/v1/nodes", {"metadata": {"name": "n", **node.get("metadata", {})}, "status": node["status"]})
    resources = {"resources": {"requests": {"cpu": "100m"}}}
    small = pod(nodeName="n", initContainers=[{"name": "i", "image": "i", **resources}])
    small["spec"]["containers"][0] |= resources
    ask("POST", PODS, small)
    stored = ask("GET", f"{PODS}/p")[1]
    stored["spec"][key][0]["resources"] = {"requests": requests}
    return ask("PUT", f"{PODS}/p/resize", stored)


TOO_LARGE = (
    "node didn't have enough allocatable resources: cpu, requested: 2500, allocatable: 2000; "
    "memory, requested: 2147483648, allocatable: 1073741824"
)
LARGE = {"allocatable": {"cpu": "2", "memory": "1Gi"}}


@pytest.mark.parametrize(
    ("node", "requests", "message", "cause"),
    [
        (None, {"cpu": "1"}, 'node "n" not found', None),
        (
            {"status": LARGE, "metadata": {"labels": {"kubernetes.io/os": "windows"}}},
            {"cpu": "1"},
            'pod resize is only supported on linux nodes, node "n" is "windows"',
            "UnsupportedPlatform",
        ),
        (
            {"status": LARGE},
            {"cpu": "2500m", "memory": "2Gi"},
            TOO_LARGE,
            "NodeCapacity",
        ),
    ],
)
def test_a_node_cannot_provide_a_resize(
    node: dict[str, Any] | None, requests: dict[str, str], message: str, cause: str | None
) -> None:
    """A node that does not exist, is too small or does not run Linux refuses the resize."""
    code, status = resize(node, requests)
    assert (code, status["message"]) == (403, f'pods "p" is forbidden: {message}')
    assert status["details"].get("causes") == (None if cause is None else [{"reason": cause}])


def test_a_resize_that_fits() -> None:
    """Requests up to the allocatable amount are accepted, and more with the plugin disabled."""
    assert resize({"status": LARGE}, {"cpu": "2"})[0] == 200
    assert resize({"status": LARGE}, {"cpu": "3"}, disable=("PodResizeValidator",))[0] == 200


def test_a_node_declares_its_features() -> None:
    """The resources of an init container change only on a node that declares the feature."""
    code, status = resize({"status": LARGE}, {"cpu": "1"}, key="initContainers")
    why = f'pod update requires features {FEATURE} which are not available on node "n"'
    assert (code, status["message"]) == (403, f'pods "p" is forbidden: {why}')
    declaring = {"status": {**LARGE, "declaredFeatures": [FEATURE]}}
    assert resize(declaring, {"cpu": "1"}, key="initContainers")[0] == 200
    disabled = ("NodeDeclaredFeatureValidator",)
    assert resize({"status": LARGE}, {"cpu": "1"}, key="initContainers", disable=disabled)[0] == 200
