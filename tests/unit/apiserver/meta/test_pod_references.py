"""References of a pod to API objects."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._meta.pod_references import api_reference


@pytest.mark.parametrize(
    ("spec", "resource"),
    [
        ({"serviceAccountName": "sa"}, "serviceaccounts"),
        ({"imagePullSecrets": [{"name": "a"}]}, "secrets"),
        ({"containers": [{"name": "c", "image": "i", "envFrom": [{"secretRef": {"name": "a"}}]}]}, "secrets"),
        ({"containers": [{"name": "c", "image": "i", "envFrom": [{"configMapRef": {"name": "a"}}]}]}, "configmaps"),
        ({"resourceClaims": [{"name": "a", "resourceClaimName": "b"}]}, "resourceclaims"),
        ({"volumes": [{"name": "v", "secret": {"secretName": "a"}}]}, "secrets"),
        ({"volumes": [{"name": "v", "csi": {"driver": "d"}}]}, "csidrivers (via CSI volumes)"),
        ({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "a"}}]}, "persistentvolumeclaims"),
        (
            {"volumes": [{"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "a"}}]}}]},
            "serviceaccounts (via projected volumes)",
        ),
        ({"volumes": [{"name": "v", "emptyDir": {}}, {"name": "w", "hostPath": {"path": "/"}}]}, ""),
    ],
)
def test_a_reference_is_named_by_its_resource(spec: dict[str, Any], resource: str) -> None:
    """The first one in kube-apiserver's order; sources that need no API object are none."""
    assert api_reference(spec) == resource


@pytest.mark.parametrize("key", ["configMap", "secret", "serviceAccountToken", "clusterTrustBundle", "downwardAPI"])
def test_a_projected_source_is_a_reference(key: str) -> None:
    """All but the downward API."""
    volume = {"name": "v", "projected": {"sources": [{key: {"path": "a"}}]}}
    assert bool(api_reference({"volumes": [volume]})) is (key != "downwardAPI")
