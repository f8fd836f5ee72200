"""Common cells of tables."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._registry.table_cells import (
    access_modes,
    containers_of,
    labels_of,
    load_balancer_addresses,
    selector_of,
    status_of,
)


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        (None, "<none>"),
        ({}, "<none>"),
        ({"matchLabels": {"b": "2", "a": "1"}}, "a=1,b=2"),
        ({"matchExpressions": [{"key": "a", "operator": "In", "values": ["x", "y"]}]}, "a in (x,y)"),
    ],
)
def test_selectors(selector: Any, text: str) -> None:
    """A selector has kubectl's form."""
    assert selector_of(selector) == text


def test_other_cells() -> None:
    """Absent values have kubectl's words."""
    assert (labels_of({"b": "2", "a": "1"}), labels_of(None)) == ("a=1,b=2", "<none>")
    assert access_modes(["ReadWriteMany", "ReadWriteOnce", "ReadWriteOnce"]) == "RWO,RWX"
    assert containers_of({"spec": {"containers": [{"name": "a", "image": "i"}, {"name": "b"}]}}) == {
        "Containers": "a,b",
        "Images": "i,",
    }
    assert status_of({}) == {}


def test_addresses_of_a_load_balancer() -> None:
    """Addresses are shown once and sorted, host names where there is no address."""
    ingress = [
        {"hostname": "b.example.com"},
        {"ip": "10.0.0.2"},
        {"ip": "10.0.0.1", "hostname": "x"},
        {"ip": "10.0.0.2"},
        {},
    ]
    assert load_balancer_addresses({"loadBalancer": {"ingress": ingress}}) == ["10.0.0.1", "10.0.0.2", "b.example.com"]
