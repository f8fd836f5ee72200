"""FlowSchemas and PriorityLevelConfigurations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyctrl._lazy_imports import lazy_function
from pyctrl.apiserver._meta.generation import STATUS_RESET_FIELDS
from pyctrl.apiserver._meta.validation import MetadataCheck
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.status_validation import validate_flow_status
from pyctrl.apiserver._registry.strategy import Object, Strategy
from pyctrl.apiserver._registry.table_cells import NONE, Cells, spec_of, status_of
from pyctrl.apiserver._schema.defaulting import set_defaults

if TYPE_CHECKING:
    from pyctrl.apiserver._registry.flow_validation import validate_flow_schema, validate_priority_level
    from pyctrl.apiserver._registry.mandatory_flows import (
        validate_mandatory_flow_schema,
        validate_mandatory_priority_level,
    )
else:  # imported with the first object
    _rules = "pyctrl.apiserver._registry.flow_validation"
    validate_flow_schema = lazy_function(_rules, "validate_flow_schema")
    validate_priority_level = lazy_function(_rules, "validate_priority_level")
    _mandatory = "pyctrl.apiserver._registry.mandatory_flows"
    validate_mandatory_flow_schema = lazy_function(_mandatory, "validate_mandatory_flow_schema")
    validate_mandatory_priority_level = lazy_function(_mandatory, "validate_mandatory_priority_level")

__all__ = ["RESOURCES"]


_PRECEDENCE: Final = 1000
_QUEUING: Final = {"queues": 64, "handSize": 8, "queueLengthLimit": 50}


def _default_flow_schema(obj: Object) -> None:
    """Default to a precedence in the middle."""
    spec = obj.get("spec") or {}
    if not spec.get("matchingPrecedence"):
        spec["matchingPrecedence"] = _PRECEDENCE


def _default_priority_level(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    limited = spec.get("limited")
    if limited is not None:
        set_defaults(limited, nominalConcurrencyShares=30, lendablePercent=0)
        queuing = (limited.get("limitResponse") or {}).get("queuing")
        if queuing is not None:
            for key, number in _QUEUING.items():
                queuing[key] = queuing.get(key) or number
    elif spec.get("exempt") is not None:
        set_defaults(spec["exempt"], nominalConcurrencyShares=0, lendablePercent=0)


def _flow_schema_cells(obj: Object) -> Cells:
    spec = spec_of(obj)
    conditions = {each.get("type", ""): each.get("status", "") for each in status_of(obj).get("conditions") or ()}
    return {
        "PriorityLevel": (spec.get("priorityLevelConfiguration") or {}).get("name", NONE),
        "MatchingPrecedence": spec.get("matchingPrecedence", 0),
        "DistinguisherMethod": (spec.get("distinguisherMethod") or {}).get("type", NONE),
        "MissingPL": conditions.get("Dangling", "?"),
    }


def _flow_schema_order(obj: Object) -> tuple[int, str]:
    """Return the key by which FlowSchemas are matched, and shown."""
    return spec_of(obj).get("matchingPrecedence", 0), obj["metadata"].get("name", "")  # a bookmark has no name


def _priority_level_cells(obj: Object) -> Cells:
    spec = spec_of(obj)
    limited = spec.get("limited") or {}
    queuing = (limited.get("limitResponse") or {}).get("queuing") or {}
    return {
        "Type": spec.get("type", ""),
        "NominalConcurrencyShares": limited.get("nominalConcurrencyShares", NONE),
        "Queues": queuing.get("queues", NONE),
        "HandSize": queuing.get("handSize", NONE),
        "QueueLengthLimit": queuing.get("queueLengthLimit", NONE),
    }


_GROUP: Final = "flowcontrol.apiserver.k8s.io"
RESOURCES: Final = (
    BuiltinResource(
        group=_GROUP,
        kind="FlowSchema",
        strategy=Strategy(
            has_generation=True,
            on_update=(MetadataCheck.WHOLE,),
            status_reset_fields=STATUS_RESET_FIELDS,
            defaults=(_default_flow_schema,),
            validates=(validate_flow_schema, validate_mandatory_flow_schema),
            validates_status=(validate_flow_status,),
        ),
        cells=_flow_schema_cells,
        row_order=_flow_schema_order,
    ),
    BuiltinResource(
        group=_GROUP,
        kind="PriorityLevelConfiguration",
        strategy=Strategy(
            has_generation=True,
            on_update=(MetadataCheck.WHOLE,),
            status_reset_fields=STATUS_RESET_FIELDS,
            defaults=(_default_priority_level,),
            validates=(validate_priority_level, validate_mandatory_priority_level),
            validates_status=(validate_flow_status,),
        ),
        cells=_priority_level_cells,
    ),
)
