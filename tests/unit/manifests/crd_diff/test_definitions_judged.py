"""`compare_definitions` checked against the API server: a change that breaks objects is never reported as harmless."""

from __future__ import annotations

import copy
from collections import Counter
from random import Random
from typing import Any

from pyctrl.apiserver._apiextensions.pruning import prune
from pyctrl.apiserver._apiextensions.structural import validate_schema
from pyctrl.apiserver._schema.defaulting import apply_defaults, prune_nulls
from pyctrl.apiserver._schema.schema import SchemaNode, compile_structural
from pyctrl.apiserver._schema.validation import validate, validate_list_types
from pyctrl.manifests import compare_definitions
from tests.unit.manifests._schemas import Schema, near, schema, value

PAIRS, OBJECTS = 1500, 4  # schemas, and objects per schema; takes a second of CPU time


def _stored(node: SchemaNode, obj: Any) -> tuple[Any, bool]:
    """Return the stored form of an object, and whether the object is valid and stored without losses."""
    kept, unknown = copy.deepcopy(obj), list[str]()
    prune(node, kept, unknown, lambda _key, field, _path, _unknown: field, is_object=False)
    prune_nulls(node, kept)
    apply_defaults(node, kept)
    is_valid = not validate(node, kept) and not validate_list_types(node, kept)
    return kept, is_valid and not unknown


def _root(spec: Schema) -> Schema:
    return {"type": "object", "properties": {"spec": spec}}


def _definition(root: Schema) -> dict[str, Any]:
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": root}}
    spec = {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"kind": "Widget", "plural": "widgets"},
        "versions": [version],
    }
    return {"metadata": {"name": "widgets.example.com"}, "spec": spec}


def test_nothing_that_breaks_is_called_harmless() -> None:
    """If a stored object is refused or loses a field under the new schema, a change is reported."""
    random, met = Random(20260821), Counter[str]()
    for _ in range(PAIRS):
        spec = schema(random)
        old, new = _root(spec), _root(near(random, spec))
        if old == new or validate_schema(old, "") or validate_schema(new, ""):
            continue
        before, after = compile_structural(old), compile_structural(new)
        changes = compare_definitions(_definition(old), _definition(new))
        for _ in range(OBJECTS):
            stored, is_valid = _stored(before, value(random, old))
            if not is_valid:
                continue
            _, is_kept = _stored(after, stored)
            met[f"{is_kept} {changes[0].effect if changes else 'nothing'}"] += 1
            told = any(each.effect == "breaking" or each.code.startswith("default") for each in changes)
            assert is_kept or told, f"{stored}\n{old}\n{new}\n{[str(each) for each in changes]}"

    assert met["False breaking"] > 120, met  # both cases occurred often enough
    assert met["True harmless"] > 120, met
