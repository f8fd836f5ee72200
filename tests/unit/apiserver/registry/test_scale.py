"""The subresource scale."""

from __future__ import annotations

from typing import Any

from tests.unit.apiserver._kit import Asker

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"


TABLE = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}


def deployment() -> dict[str, Any]:
    labels = {"app": "a"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    return {"metadata": {"name": "a"}, "spec": {"selector": {"matchLabels": labels}, "template": template}}


def test_a_scale_is_a_row(ask: Asker) -> None:
    """`kubectl get --subresource=scale` gets a table of desired and available replicas."""
    ask("POST", DEPLOYMENTS, deployment())

    _, found = ask("GET", f"{DEPLOYMENTS}/a/scale", headers=TABLE)

    assert [column["name"] for column in found["columnDefinitions"]] == ["Name", "Desired", "Available", "Age"]
    assert found["rows"][0]["cells"][:3] == ["a", 1, 0]
