"""RuntimeClasses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from pyctrl._lazy_imports import lazy_function
from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError, duplicate, invalid_value
from pyctrl.apiserver._meta.validation import MetadataCheck, validate_labels
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.field_validation import required_name, text_of
from pyctrl.apiserver._registry.strategy import Object, Strategy
from pyctrl.apiserver._registry.table_cells import Cells
from pyctrl.apiserver._schema.schema import JSON

if TYPE_CHECKING:
    from pyctrl.apiserver._registry._pods.resources import validate_container_resources
    from pyctrl.apiserver._registry._pods.scheduling import validate_tolerations
    from pyctrl.apiserver._registry._pods.warnings import deprecation_of_label
else:  # imported with the first object
    validate_container_resources = lazy_function(
        "pyctrl.apiserver._registry._pods.resources", "validate_container_resources"
    )
    validate_tolerations = lazy_function("pyctrl.apiserver._registry._pods.scheduling", "validate_tolerations")
    deprecation_of_label = lazy_function("pyctrl.apiserver._registry._pods.warnings", "deprecation_of_label")

__all__ = ["RESOURCES"]


def _runtime_class_cells(obj: Object) -> Cells:
    return {"Handler": obj.get("handler", "")}


def _validate_runtime_class(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a RuntimeClass; its handler does not change."""
    handler = text_of(new, "handler")
    yield from required_name(names.label, handler, "handler")
    if (overhead := new.get("overhead")) is not None:
        yield from validate_container_resources({"limits": overhead.get("podFixed")}, "overhead", ())
    scheduling = new.get("scheduling") or {}
    yield from validate_labels(scheduling.get("nodeSelector") or {}, "scheduling.nodeSelector")
    yield from _tolerations(scheduling.get("tolerations") or ())
    if old is not None and handler != text_of(old, "handler"):
        yield invalid_value("handler", handler, "field is immutable")


def _tolerations(tolerations: Sequence[Mapping[str, JSON]]) -> Iterator[FieldError]:
    path = "scheduling.tolerations"
    yield from validate_tolerations(tolerations, path)
    seen: set[tuple[str, ...]] = set()
    for index, each in enumerate(tolerations):
        values = tuple(text_of(each, key) for key in ("key", "operator", "value", "effect"))
        if values in seen:
            shown = dict(zip(("Key", "Operator", "Value", "Effect"), values, strict=True))
            yield duplicate(f"{path}[{index}]", {**shown, "TolerationSeconds": each.get("tolerationSeconds")})
        seen.add(values)


def _warnings(new: Object) -> Iterator[str]:
    """Warn about deprecated node labels."""
    for key in (new.get("scheduling") or {}).get("nodeSelector") or ():
        if why := deprecation_of_label(key):
            yield f"scheduling.nodeSelector: {why}"


RESOURCES: Final = (
    BuiltinResource(
        group="node.k8s.io",
        kind="RuntimeClass",
        strategy=Strategy(
            on_create=MetadataCheck.PLAIN_WHOLE,
            on_update=(MetadataCheck.PLAIN_WHOLE, MetadataCheck.PLAIN_CHANGE),
            allows_unconditional_update=False,
            allows_create_on_update=True,
            validates=(_validate_runtime_class,),
            warns=_warnings,
        ),
        cells=_runtime_class_cells,
    ),
)
