"""RuntimeClasses."""

from __future__ import annotations

from typing import Final

from pyctrl.apiserver._meta.validation import MetadataCheck
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.strategy import Object, Strategy
from pyctrl.apiserver._registry.table_cells import Cells

__all__ = ["RESOURCES"]


def _runtime_class_cells(obj: Object) -> Cells:
    return {"Handler": obj.get("handler", "")}


RESOURCES: Final = (
    BuiltinResource(
        group="node.k8s.io",
        kind="RuntimeClass",
        strategy=Strategy(
            on_create=MetadataCheck.PLAIN_WHOLE,
            on_update=(MetadataCheck.PLAIN_WHOLE, MetadataCheck.PLAIN_CHANGE),
            allows_unconditional_update=False,
            allows_create_on_update=True,
        ),
        cells=_runtime_class_cells,
    ),
)
