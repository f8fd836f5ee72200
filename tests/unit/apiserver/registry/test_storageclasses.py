"""StorageClasses, VolumeAttributesClasses, CSI drivers and nodes, and VolumeAttachments."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.apiserver.registry._tables import Row, cells_of, row_id

ROWS: list[Row] = [
    (
        ("storage.k8s.io", "v1", "csidrivers"),
        {
            "spec": {
                "attachRequired": False,
                "tokenRequests": [{"audience": "a"}, {"audience": "b"}],
                "volumeLifecycleModes": ["Persistent"],
            }
        },
        [False, False, False, "a,b", False, "Persistent"],
    ),
    (("storage.k8s.io", "v1", "csinodes"), {"spec": {"drivers": [{}, {}]}}, [2]),
    (
        ("storage.k8s.io", "v1", "volumeattachments"),
        {"spec": {"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "v"}}},
        ["a", "v", "n", False],
    ),
    (("storage.k8s.io", "v1", "volumeattributesclasses"), {"driverName": "d"}, ["d"]),
]


@pytest.mark.parametrize(("place", "obj", "cells"), ROWS, ids=row_id)
def test_cells_of_a_row(place: tuple[str, str, str], obj: dict[str, Any], cells: list[Any]) -> None:
    """A row has the cells that kube-apiserver 1.36 shows for the object."""
    assert cells_of(place, obj) == cells
