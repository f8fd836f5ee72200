"""Admission plugin Priority."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.apiserver._kit import Asker


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({"priorityClassName": "nix"}, "no PriorityClass with name nix was found"),
        ({"priority": 5}, "the integer value of priority (5) must not be provided in pod spec"),
    ],
)
def test_a_pod_has_the_priority_of_its_class(ask: Asker, spec: dict[str, Any], why: str) -> None:
    """A pod gets the priority of its class. An unknown class and another priority are forbidden."""
    pods, containers = "/api/v1/namespaces/default/pods", [{"name": "c", "image": "i"}]
    ask("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "high"}, "value": 7})
    named = {"metadata": {"name": "a"}, "spec": {"containers": containers, "priorityClassName": "high"}}
    assert ask("POST", pods, named)[1]["spec"]["priority"] == 7
    code, status = ask("POST", pods, {"metadata": {"name": "b"}, "spec": {"containers": containers, **spec}})
    assert code == 403
    assert why in status["message"]
