"""ServiceCIDRs and IPAddresses."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.apiserver._kit import Asker
from tests.unit.apiserver.registry._tables import Row, cells_of, row_id

ROWS: list[Row] = [
    (
        ("networking.k8s.io", "v1", "ipaddresses"),
        {"spec": {"parentRef": {"resource": "services", "namespace": "n", "name": "s"}}},
        ["services/n/s", "<unknown>"],
    ),
    (
        ("networking.k8s.io", "v1", "servicecidrs"),
        {"spec": {"cidrs": ["10.0.0.0/24", "fd00::/108"]}},
        ["10.0.0.0/24,fd00::/108"],
    ),
]


@pytest.mark.parametrize(("place", "obj", "cells"), ROWS, ids=row_id)
def test_cells_of_a_row(place: tuple[str, str, str], obj: dict[str, Any], cells: list[Any]) -> None:
    """A row has the cells that kube-apiserver 1.36 shows for the object."""
    assert cells_of(place, obj) == cells


def test_the_name_of_an_ip_address_is_never_completed(ask: Asker) -> None:
    """generateName is the whole name of an IPAddress: with a suffix it would be no address."""
    path = "/apis/networking.k8s.io/v1/ipaddresses"
    spec = {"parentRef": {"resource": "services", "namespace": "n", "name": "s"}}
    code, made = ask("POST", path, {"metadata": {"generateName": "10.9.8.7"}, "spec": spec})
    assert (code, made["metadata"]["name"]) == (201, "10.9.8.7")
    code, refused = ask("POST", path, {"metadata": {"generateName": "made-"}, "spec": spec})
    assert [each["field"] for each in refused["details"]["causes"]] == ["metadata.generateName", "metadata.name"]
