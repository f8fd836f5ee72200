"""The summary of a cached pod."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from pyctrl.cache import Record
from pyctrl.cluster._pod_summary import may_be_bound, may_use_claims, summarize_pod


def _record(spec: dict[str, Any] | None = None, status: dict[str, Any] | None = None) -> Record:
    pod = {"metadata": {"name": "p", "labels": {"a": "b"}}, "spec": spec or {}, "status": status or {}}
    return Record(kept=msgspec.json.encode(pod), name="p", namespace="default", uid="u", version=1)


def test_a_summary_has_the_fields_that_controllers_compare() -> None:
    """Node, labels, address and the condition Ready are read from the pod."""
    conditions = [{"type": "Initialized", "status": "True"}, {"type": "Ready", "status": "False"}]
    found = summarize_pod(_record({"nodeName": "node-1"}, {"podIP": "10.0.0.1", "conditions": conditions}))
    assert (found.node, found.metadata.labels, found.status.pod_ip) == ("node-1", {"a": "b"}, "10.0.0.1")
    assert found.ready is not None
    assert found.ready.status == "False"


def test_a_new_pod_has_neither_node_nor_ready_condition() -> None:
    """A pod that is not scheduled has the node "" and no condition Ready."""
    found = summarize_pod(_record())
    assert (found.node, found.ready) == ("", None)


@pytest.mark.parametrize(
    ("phase", "is_over"), [("Pending", False), ("Running", False), ("Succeeded", True), ("Failed", True)]
)
def test_a_pod_is_over_in_a_final_phase(phase: str, is_over: bool) -> None:
    """Only Succeeded and Failed are final phases."""
    assert summarize_pod(_record(status={"phase": phase})).is_over is is_over


@pytest.mark.parametrize(
    ("volume", "expected"),
    [({"persistentVolumeClaim": {"claimName": "c"}}, True), ({"ephemeral": {}}, True), ({"emptyDir": {}}, False)],
)
def test_claims_and_ephemeral_volumes_use_claims(volume: dict[str, Any], expected: bool) -> None:
    """A pod with a claim or an ephemeral volume may use claims, and a pod with other volumes does not."""
    assert may_use_claims(_record({"volumes": [{"name": "v", **volume}]})) is expected


@pytest.mark.parametrize(("spec", "expected"), [({"nodeName": "node-1"}, True), ({"nodeSelector": {"a": "b"}}, False)])
def test_only_pods_with_a_node_may_be_bound(spec: dict[str, Any], expected: bool) -> None:
    """A pod may be bound if it has the name of a node."""
    assert may_be_bound(_record(spec)) is expected
