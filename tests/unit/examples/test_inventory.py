"""The inventory's objects and permissions, without a server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from examples.inventory.inventory import Inventory, stub_deployment, stub_service
from pyctrl.api import Key
from pyctrl.rbac import grants, manifests

ROLES = Path(__file__).parents[3] / "examples" / "inventory" / "config" / "role.yaml"
META = {"name": "k8s-test-stub", "namespace": "testing", "labels": {"app": "k8s-test-app"}}


def test_the_deployment_is_that_of_the_seed() -> None:
    """The Deployment equals that of the seed: two nginx pods, a quarter of which may be unavailable or surplus."""
    assert stub_deployment("testing").to_wire() == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {**META, "annotations": {"creator": "k8s-operator-test"}},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "k8s-test-app"}},
            "template": {
                "metadata": {"labels": {"app": "k8s-test-app"}},
                "spec": {
                    "containers": [{"name": "nginx", "image": "nginx:alpine"}],
                    "restartPolicy": "Always",
                    "dnsPolicy": "ClusterFirst",
                    "automountServiceAccountToken": True,
                },
            },
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}},
        },
    }


def test_the_service_is_that_of_the_seed() -> None:
    """The Service maps port 80 to these pods and leaves the node port to the cluster."""
    assert stub_service("testing").to_wire() == {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {**META, "annotations": {"creator": "k8s-test-operator"}},
        "spec": {
            "type": "NodePort",
            "selector": {"app": "k8s-test-app"},
            "ports": [{"name": "http", "protocol": "TCP", "port": 80, "targetPort": 80}],
        },
    }


def test_the_roles_are_made_of_what_the_inventory_declares() -> None:
    """The file grants exactly what `Inventory.rbac` declares, to the account of the Deployment."""
    written: list[dict[str, Any]] = list(yaml.safe_load_all(ROLES.read_text()))
    account = next(document["metadata"] for document in written if document["kind"] == "ServiceAccount")
    granted = grants(Inventory.rbac, namespaces=None, own_namespace=account["namespace"])
    expected = manifests(granted, name=account["name"], account=Key(account["namespace"], account["name"]))
    assert [document for document in written if "Role" in document["kind"]] == expected
