"""Rules for the keys of maps, which are strings on the wire."""

from __future__ import annotations

import json
from typing import Any

from pyctrl.manifests._schema.annotations import annotated_type, name_of
from pyctrl.manifests._schema.constraints import constrain
from pyctrl.manifests._schema.enums import enum_values
from pyctrl.manifests._schema.locations import Location, Problems
from pyctrl.manifests._schema.scalars import scalar_schema
from pyctrl.manifests._schema.schema import Schema, Validation

__all__ = ["is_key_rule", "key_rule"]

_OVER_KEYS = "self.all(k, "


def key_rule(annotation: Any, place: Location, problems: Problems) -> tuple[Validation, ...]:
    """Return the CEL rules for the keys of a map; schemas have no keyword for them."""
    part = annotated_type(annotation)
    values = enum_values(part.type)
    if values is not None and all(isinstance(value, str) for value in values):
        allowed = json.dumps(values)
        return (Validation(rule=f"{_OVER_KEYS}k in {allowed})", message=f"keys must be one of {', '.join(values)}"),)
    schema = scalar_schema(part)
    if schema is None or schema != Schema(type="string"):
        problems.report(place, f"keys of a map on the wire are strings, not {name_of(part.type)}", "use dict[str, …]")
        return ()
    return tuple(_rules(constrain(schema, part.beside, place.part("{key}"), problems)))


def is_key_rule(rule: str) -> bool:
    """Return whether a rule was made by `key_rule`."""
    return rule.startswith(_OVER_KEYS)


def _rules(keys: Schema) -> list[Validation]:
    rules = []
    if keys.pattern:
        rule = f"{_OVER_KEYS}k.matches({json.dumps(keys.pattern)}))"
        rules.append(Validation(rule=rule, message=f"keys must match {keys.pattern}"))
    if keys.min_length is not None:
        rule = f"{_OVER_KEYS}size(k) >= {keys.min_length})"
        rules.append(Validation(rule=rule, message=f"keys must have {keys.min_length} characters at least"))
    if keys.max_length is not None:
        rule = f"{_OVER_KEYS}size(k) <= {keys.max_length})"
        rules.append(Validation(rule=rule, message=f"keys must have {keys.max_length} characters at most"))
    return rules
