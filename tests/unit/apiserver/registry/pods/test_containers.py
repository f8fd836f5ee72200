"""Validation of containers."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._errors import StatusError
from tests.unit.apiserver._objects import complaints, create, pod


@pytest.mark.parametrize(
    ("container", "complaint"),
    [
        ({"name": "Bad_Name"}, 'spec.containers[0].name: Invalid value: "Bad_Name"'),
        ({"image": ""}, "spec.containers[0].image: Required value"),
        ({"ports": [{"containerPort": 99999}]}, "spec.containers[0].ports[0].containerPort: Invalid value: 99999"),
        ({"imagePullPolicy": "Sometimes"}, 'spec.containers[0].imagePullPolicy: Unsupported value: "Sometimes"'),
        (
            {"volumeMounts": [{"name": "v", "mountPath": "/x"}]},
            'spec.containers[0].volumeMounts[0].name: Not found: "v"',
        ),
        ({"env": [{"value": "x"}]}, "spec.containers[0].env[0].name: Required value"),
        (
            {"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}},
            'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
        ),
    ],
)
def test_an_invalid_container_is_refused(container: dict[str, Any], complaint: str) -> None:
    """The error names the invalid field."""
    with pytest.raises(StatusError) as refused:
        create(ResourceRegistry(), pod(**container))
    assert complaints(refused.value)[0].startswith(complaint)
