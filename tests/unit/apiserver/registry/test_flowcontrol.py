"""FlowSchemas and PriorityLevelConfigurations."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.apiserver.registry._tables import Row, cells_of, row_id

ROWS: list[Row] = [
    (
        ("flowcontrol.apiserver.k8s.io", "v1", "flowschemas"),
        {
            "spec": {"matchingPrecedence": 7000, "priorityLevelConfiguration": {"name": "l"}},
            "status": {"conditions": [{"type": "Dangling", "status": "True"}]},
        },
        ["l", 7000, "<none>", "True"],
    ),
    (
        ("flowcontrol.apiserver.k8s.io", "v1", "prioritylevelconfigurations"),
        {
            "spec": {
                "type": "Limited",
                "limited": {
                    "nominalConcurrencyShares": 3,
                    "limitResponse": {"queuing": {"queues": 4, "handSize": 2, "queueLengthLimit": 6}},
                },
            }
        },
        ["Limited", 3, 4, 2, 6],
    ),
]


@pytest.mark.parametrize(("place", "obj", "cells"), ROWS, ids=row_id)
def test_cells_of_a_row(place: tuple[str, str, str], obj: dict[str, Any], cells: list[Any]) -> None:
    """A row has the cells that kube-apiserver 1.36 shows for the object."""
    assert cells_of(place, obj) == cells
