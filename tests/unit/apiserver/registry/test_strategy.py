"""Strategies of built-in kinds."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._errors import required
from pyctrl.apiserver._registry.strategy import SelectableField, Strategy, SubresourceStrategy, fields_at


@pytest.mark.parametrize(
    ("spec", "value"), [({}, "0"), ({"a": ""}, "0"), ({"a": 5}, "5"), ({"b": True}, "true"), ({"b": False}, "false")]
)
def test_field_labels_are_texts(spec: dict[str, Any], value: str) -> None:
    """The first path with a value counts; without one, the label has the zero value."""
    assert SelectableField(("spec.a", "spec.b"), "0").value({"spec": spec}) == value


def test_name_and_namespace_are_always_selectable() -> None:
    """Objects of cluster scope have no namespace."""
    strategy = Strategy(fields=fields_at("spec.a"))
    obj = {"metadata": {"name": "n", "namespace": "ns"}, "spec": {"a": "x"}}
    assert strategy.selectable_fields(obj, namespaced=False) == {"metadata.name": "n", "spec.a": "x"}
    assert strategy.selectable_fields(obj, namespaced=True)["metadata.namespace"] == "ns"


def test_each_subresource_has_its_validation() -> None:
    """A status without its own rules is validated as a new object."""

    def of_object(_new: dict[str, Any], old: dict[str, Any] | None) -> Any:
        yield required("created" if old is None else "updated")

    def of_part(_new: dict[str, Any], _old: dict[str, Any] | None) -> Any:
        yield required("part")

    part = SubresourceStrategy(keep=lambda _new, _old: None, validate=of_part)
    strategy = Strategy(validates=(of_object,), subresources={"part": part})

    def fields(strategy: Strategy, subresource: str | None) -> list[str]:
        return [cause.field for cause in strategy.validate_update(subresource, {}, {})]

    assert fields(strategy, None) == ["updated"]
    assert fields(strategy, "status") == ["created"]
    assert fields(strategy, "part") == ["part"]
    assert fields(Strategy(validates=(of_object,), validates_status=()), "status") == []
