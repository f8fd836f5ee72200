"""Leases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError, field_forbidden, invalid_value, not_supported
from pyctrl.apiserver._meta.validation import MetadataCheck
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.field_validation import invalid_name, not_negative
from pyctrl.apiserver._registry.strategy import Object, Strategy
from pyctrl.apiserver._registry.table_cells import Cells, spec_of

__all__ = ["RESOURCES"]

_STRATEGY: Final = "OldestEmulationVersion"


def _validate_lease(new: Object, _old: Object | None) -> Iterator[FieldError]:
    """Check the duration and the number of transitions."""
    spec = new.get("spec") or {}
    seconds = spec.get("leaseDurationSeconds")
    if seconds is not None and seconds <= 0:
        yield invalid_value("spec.leaseDurationSeconds", seconds, "must be greater than 0")
    yield from not_negative(spec, "spec", "leaseTransitions")
    strategy = spec.get("strategy")
    if strategy is not None:
        yield from _strategy(strategy, "spec.strategy")
    if spec.get("preferredHolder") and not strategy:
        yield field_forbidden("spec.preferredHolder", "may only be specified if `strategy` is defined")


def _strategy(strategy: str, path: str) -> Iterator[FieldError]:
    """Check a strategy: that of Kubernetes, or a path below a domain."""
    domain, slash, name = strategy.partition("/")
    if not slash:
        if strategy != _STRATEGY:
            yield not_supported(path, strategy, (_STRATEGY,))
        return
    yield from invalid_name(names.qualified_name, strategy, path)


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
            validates=(_validate_lease,),
        ),
        cells=_lease_cells,
    ),
)
