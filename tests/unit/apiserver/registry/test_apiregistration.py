"""APIServices."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.apiserver._kit import Asker
from tests.unit.apiserver.registry._tables import Row, cells_of, row_id

ROWS: list[Row] = [
    (
        ("apiregistration.k8s.io", "v1", "apiservices"),
        {"spec": {"service": {"namespace": "n", "name": "s"}}},
        ["n/s", "Unknown"],
    ),
    (
        ("apiregistration.k8s.io", "v1", "apiservices"),
        {"status": {"conditions": [{"type": "Available", "status": "False", "reason": "ServiceNotFound"}]}},
        ["Local", "False (ServiceNotFound)"],
    ),
]


@pytest.mark.parametrize(("place", "obj", "cells"), ROWS, ids=row_id)
def test_cells_of_a_row(place: tuple[str, str, str], obj: dict[str, Any], cells: list[Any]) -> None:
    """A row has the cells that kube-apiserver 1.36 shows for the object."""
    assert cells_of(place, obj) == cells


def test_a_new_one_without_a_service_is_available(ask: Asker) -> None:
    """Local APIServices are available at once, and others when their server was checked."""
    spec = {"group": "g", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1}
    path = "/apis/apiregistration.k8s.io/v1/apiservices"
    _, made = ask("POST", path, {"metadata": {"name": "v1.g"}, "spec": spec, "status": {"conditions": []}})
    (condition,) = made["status"]["conditions"]
    assert condition.pop("lastTransitionTime")
    message = "Local APIServices are always available"
    assert condition == {"type": "Available", "status": "True", "reason": "Local", "message": message}
    other = {**spec, "group": "h", "service": {"namespace": "a", "name": "b"}}
    assert not ask("POST", path, {"metadata": {"name": "v1.h"}, "spec": other})[1].get("status")
