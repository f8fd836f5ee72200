"""FlowSchemas and PriorityLevelConfigurations."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pyctrl.apiserver import Upgrade
from tests.unit.apiserver._kit import Asker
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


def test_a_table_of_flow_schemas_is_in_the_order_of_matching(ask: Asker) -> None:
    """Rows are sorted by precedence, then by name; a list keeps the order of names."""
    path = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas"
    _, table = ask("GET", path, headers={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"})
    names = [each["cells"][0] for each in table["rows"]]
    assert (names[:2], names[-1]) == (["exempt", "probes"], "catch-all")
    assert [each["metadata"]["name"] for each in ask("GET", path)[1]["items"]] == sorted(names)


async def test_a_watch_of_rows_of_flow_schemas_has_its_bookmark(ask: Asker) -> None:
    """A table of the bookmark, which has no name and no precedence, ends a streaming list."""
    query = [("watch", "true"), ("sendInitialEvents", "true"), ("resourceVersionMatch", "NotOlderThan")]
    query += [("allowWatchBookmarks", "true"), ("fieldSelector", "metadata.name=none")]
    path = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas"
    headers = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    answer = await ask.server.handle("GET", path, query, headers, b"")
    assert not isinstance(answer.body, (bytes, Upgrade))
    first = await anext(answer.body)
    await answer.body.aclose()
    assert json.loads(first)["type"] == "BOOKMARK"
