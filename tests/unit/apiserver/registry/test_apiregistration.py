"""APIServices."""

from __future__ import annotations

from typing import Any

import pytest

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
