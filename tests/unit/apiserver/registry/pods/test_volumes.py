"""Validation of the volumes of pods."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._registry._pods.volumes import validate_volumes
from tests.unit.apiserver.registry._refusals import refusals


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ([{"name": "a", "emptyDir": {}}, {"name": "b", "configMap": {"name": "c"}}], []),
        ([{"name": "a"}], ["volumes[0]: Required value: must specify a volume type"]),
        ([{"name": "a", "emptyDir": {}}, {"name": "a", "emptyDir": {}}], ['volumes[1].name: Duplicate value: "a"']),
        (
            [{"emptyDir": {"sizeLimit": "-1"}}],
            [
                "volumes[0].emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity",
                "volumes[0].name: Required value",
            ],
        ),
        (
            [{"name": "a", "emptyDir": {}, "secret": {"secretName": "s"}}],
            ["volumes[0].secret: Forbidden: may not specify more than 1 volume type"],
        ),
        (
            [{"name": "a", "ephemeral": {}}, {"name": "b", "persistentVolumeClaim": {"claimName": "p-a"}}],
            ["volumes[0].ephemeral.volumeClaimTemplate: Required value"],
        ),
        (
            [{"name": "a", "gitRepo": {"repository": "r", "directory": "/.."}}],
            [
                'volumes[0].gitRepo.directory: Invalid value: "/..": must be a relative path',
                "volumes[0].gitRepo.directory: Invalid value: \"/..\": must not contain '..'",
            ],
        ),
        (
            [{"name": "a", "image": {"pullPolicy": "Now"}}],
            [
                "volumes[0].image.reference: Required value",
                'volumes[0].image.pullPolicy: Unsupported value: "Now": supported values: "Always", "IfNotPresent',
            ],
        ),
        ([{"name": "a", "image": {"pullPolicy": "Always"}}], ["volumes[0].image.reference: Required value"]),
        (
            [{"name": "a", "csi": {"nodePublishSecretRef": {}}}],
            ["volumes[0].csi.driver: Required value", "volumes[0].csi.nodePublishSecretRef.name: Required value"],
        ),
    ],
)
def test_volumes(given: Any, refused: list[str]) -> None:
    """A volume has a name of its own and one valid source."""
    assert refusals(validate_volumes(given, "volumes", pod_name="p", is_pod=True)[1]) == refused
