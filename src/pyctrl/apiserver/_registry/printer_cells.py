"""What the cells of built-in kinds' tables are made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from pyctrl.api import LabelSelector
from pyctrl.apiserver._schema.schema import JSON
from pyctrl.errors import SelectorError

Object: TypeAlias = Mapping[str, JSON]
Cells: TypeAlias = dict[str, JSON]  # column name -> cell; what is missing is "<none>"
NONE = "<none>"
UNSET = "<unset>"


def spec_of(obj: Object) -> Object:
    """The spec, empty when there is none."""
    found: Object = obj.get("spec") or {}
    return found


def status_of(obj: Object) -> Object:
    """The status, empty when there is none."""
    found: Object = obj.get("status") or {}
    return found


def containers_of(template: Object) -> Cells:
    """Names and images of a pod template's containers."""
    containers = spec_of(template).get("containers") or ()
    return {
        "Containers": ",".join(each.get("name", "") for each in containers),
        "Images": ",".join(each.get("image", "") for each in containers),
    }


def selector_of(selector: JSON) -> str:
    """A label selector as kubectl writes it."""
    if not selector:
        return NONE
    try:
        return str(LabelSelector.from_wire(selector)) or NONE
    except SelectorError:
        return "<error>"


def labels_of(labels: JSON) -> str:
    """Labels, sorted, as kubectl writes them."""
    return ",".join(f"{key}={labels[key]}" for key in sorted(labels)) if labels else NONE
