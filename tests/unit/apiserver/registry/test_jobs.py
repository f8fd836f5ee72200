"""Jobs: the generated selector."""

from __future__ import annotations

from pyctrl.apiserver import ResourceRegistry
from tests.unit.apiserver._objects import create


def test_a_job_gets_a_generated_selector() -> None:
    """The selector matches the Job's uid, and the template has its labels."""
    spec = {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}
    obj = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "uid": "u1"}, "spec": spec}
    created, _ = create(ResourceRegistry(), obj)
    assert created["spec"]["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": "u1"}}
    assert created["spec"]["template"]["metadata"]["labels"]["job-name"] == "j"
