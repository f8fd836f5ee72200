"""Common cells of tables."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._registry.table_cells import access_modes, containers_of, labels_of, selector_of, status_of


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
    assert access_modes(["ReadWriteOnce", "ReadOnlyMany", "Other"]) == "RWO,ROX,Other"
    assert containers_of({"spec": {"containers": [{"name": "a", "image": "i"}, {"name": "b"}]}}) == {
        "Containers": "a,b",
        "Images": "i,",
    }
    assert status_of({}) == {}
