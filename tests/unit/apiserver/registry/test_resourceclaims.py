"""ResourceClaims, ResourceSlices and DeviceClasses (dynamic resource allocation)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.apiserver.registry._tables import Row, cells_of, row_id

ROWS: list[Row] = [
    (
        ("resource.k8s.io", "v1", "resourceclaims"),
        {"status": {"allocation": {"devices": {}}, "reservedFor": [{}]}},
        ["allocated,reserved"],
    ),
    (
        ("resource.k8s.io", "v1", "resourceslices"),
        {"spec": {"driver": "d", "nodeName": "n", "pool": {"name": "p"}}},
        ["n", "d", "p"],
    ),
]


@pytest.mark.parametrize(("place", "obj", "cells"), ROWS, ids=row_id)
def test_cells_of_a_row(place: tuple[str, str, str], obj: dict[str, Any], cells: list[Any]) -> None:
    """A row has the cells that kube-apiserver 1.36 shows for the object."""
    assert cells_of(place, obj) == cells
