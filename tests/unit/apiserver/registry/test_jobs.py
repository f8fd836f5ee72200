"""Jobs: the generated selector."""

from __future__ import annotations

from pyctrl.apiserver import ResourceRegistry
from tests.unit.apiserver._kit import Asker
from tests.unit.apiserver._objects import create


def test_a_job_gets_a_generated_selector() -> None:
    """The selector matches the Job's uid, and the template has its labels."""
    spec = {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}
    obj = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "uid": "u1"}, "spec": spec}
    created, _ = create(ResourceRegistry(), obj)
    assert created["spec"]["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": "u1"}}
    assert created["spec"]["template"]["metadata"]["labels"]["job-name"] == "j"


def test_the_errors_of_an_update_come_in_order(ask: Asker) -> None:
    """The errors of a Job's new state come before those of the change, as from kube-apiserver."""
    path = "/apis/batch/v1/namespaces/default/jobs"
    spec = {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}
    assert ask("POST", path, {"metadata": {"name": "j"}, "spec": spec})[0] == 201
    wrong = {"name": "j", "labels": {"a": "b c"}}
    _, status = ask("PUT", f"{path}/j", {"metadata": wrong, "spec": {**spec, "parallelism": -1}})
    fields = [each["field"] for each in status["details"]["causes"]]
    last = len(fields) - 1 - fields[::-1].index("metadata.labels")
    assert fields[:3] == ["metadata.labels"] * 3
    assert fields.index("spec.parallelism") < last
