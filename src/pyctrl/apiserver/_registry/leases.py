"""Leases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pyctrl.apiserver._errors import FieldError, invalid_value
from pyctrl.apiserver._meta.validation import MetadataCheck
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.field_validation import not_negative
from pyctrl.apiserver._registry.strategy import Object, Strategy
from pyctrl.apiserver._registry.table_cells import Cells, spec_of

__all__ = ["RESOURCES"]


def _drop_strategy(new: Object, _old: Object | None) -> None:
    """Drop what belongs to coordinated leader election, which is off."""
    for key in ("strategy", "preferredHolder"):
        (new.get("spec") or {}).pop(key, None)


def _validate_lease(new: Object, _old: Object | None) -> Iterator[FieldError]:
    """Check the duration and the number of transitions."""
    spec = new.get("spec") or {}
    seconds = spec.get("leaseDurationSeconds")
    if seconds is not None and seconds <= 0:
        yield invalid_value("spec.leaseDurationSeconds", seconds, "must be greater than 0")
    yield from not_negative(spec, "spec", "leaseTransitions")


def _lease_cells(obj: Object) -> Cells:
    return {"Holder": spec_of(obj).get("holderIdentity", "")}


RESOURCES: Final = (
    BuiltinResource(
        group="coordination.k8s.io",
        kind="Lease",
        strategy=Strategy(
            on_create=MetadataCheck.PLAIN_WHOLE,
            on_update=(MetadataCheck.PLAIN_CHANGE,),
            allows_unconditional_update=False,
            allows_create_on_update=True,
            prepares=(_drop_strategy,),
            validates=(_validate_lease,),
        ),
        cells=_lease_cells,
    ),
)
