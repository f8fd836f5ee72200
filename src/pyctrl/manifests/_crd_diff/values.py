"""Comparison of the restrictions that two schemas place on values of the same type."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from pyctrl.manifests._crd_diff.changes import DefinitionChange, Effect

__all__ = ["Found", "Report", "Schema", "value_changes"]

Schema: TypeAlias = Mapping[str, Any]
Report: TypeAlias = Callable[[Effect, str, str], DefinitionChange]
Found: TypeAlias = Iterator[DefinitionChange]

# The alternatives of an int-or-string, which add nothing to `x-kubernetes-int-or-string`.
_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]

_AT_LEAST = {"minLength": "length", "minItems": "number of items", "minProperties": "number of keys"}
_AT_MOST = {"maxLength": "length", "maxItems": "number of items", "maxProperties": "number of keys"}
_WIDENED_FORMATS = {
    ("int32", "int64"),
    ("int32", ""),
    ("int64", ""),
    ("", "int64"),
    ("float", "double"),
    ("", "double"),
}


def value_changes(old: Schema, new: Schema, report: Report) -> Found:
    """Yield changes of nulls, enums, bounds, patterns, formats, lists, alternatives, rules and defaults."""
    yield from _enum(old.get("enum"), new.get("enum"), report)
    yield from _sizes(old, new, report)
    yield from _ranges(old, new, report)
    yield from _pattern_and_format(old, new, report)
    yield from _lists(old, new, report)
    yield from _embedded(old, new, report)
    yield from _alternatives(old, new, report)
    yield from _rules(old, new, report)
    yield from _default(old.get("default"), new.get("default"), report)


def _enum(old: list[Any] | None, new: list[Any] | None, report: Report) -> Found:
    if old == new:
        return
    if not new:
        yield report("harmless", "enum-widened", "any value is allowed")
    elif not old:
        yield report("breaking", "enum-narrowed", f"only {_values(new)} are allowed now")
    elif gone := [each for each in old if each not in new]:
        yield report("breaking", "enum-narrowed", f"{_values(gone)} is refused, {_values(new)} are allowed")
    elif more := [each for each in new if each not in old]:
        yield report("harmless", "enum-widened", f"{_values(more)} is allowed, too")


def _values(values: list[Any]) -> str:
    return ", ".join(json.dumps(each, ensure_ascii=False) for each in values)


# -- bounds ----------------------------------------------------------------------------------------------------------


def _sizes(old: Schema, new: Schema, report: Report) -> Found:
    for key, what in _AT_LEAST.items():
        yield from _bound(old.get(key), new.get(key), report, f"{key}: the {what} is at least", sign=1)
    for key, what in _AT_MOST.items():
        yield from _bound(old.get(key), new.get(key), report, f"{key}: the {what} is at most", sign=-1)


def _ranges(old: Schema, new: Schema, report: Report) -> Found:
    for key, exclusive, words, sign in (
        ("minimum", "exclusiveMinimum", "the value is at least", 1),
        ("maximum", "exclusiveMaximum", "the value is at most", -1),
    ):
        if old.get(key) == new.get(key) and bool(old.get(exclusive)) != bool(new.get(exclusive)):
            is_narrower = bool(new.get(exclusive))
            effect: Effect = "breaking" if is_narrower else "harmless"
            yield report(
                effect, _narrowed(is_narrower), f"{key} {new.get(key)} is {'not ' * is_narrower}allowed itself"
            )
        elif new.get(exclusive) and not old.get(exclusive) and _is_one_for_whole_numbers(old.get(key), new.get(key)):
            yield report("breaking", "bounds-narrowed", f"{key} {new.get(key)} is not allowed itself")
        else:
            yield from _bound(old.get(key), new.get(key), report, f"{key}: {words}", sign=sign)
    yield from _multiple(old.get("multipleOf"), new.get("multipleOf"), report)


def _narrowed(is_narrower: bool) -> str:
    return "bounds-narrowed" if is_narrower else "bounds-widened"


def _bound(old: float | None, new: float | None, report: Report, words: str, *, sign: int) -> Found:
    """Compare a bound; with sign 1 a greater one is stricter, with -1 a smaller one."""
    if old == new:
        return
    if new is None:
        yield report("harmless", "bounds-widened", f"{words} anything, was {old}")
    elif old is None or sign * (new - old) > 0:
        yield report("breaking", "bounds-narrowed", f"{words} {new}{'' if old is None else f', was {old}'}")
    else:
        yield report("harmless", "bounds-widened", f"{words} {new}, was {old}")


def _is_one_for_whole_numbers(old: float | None, new: float | None) -> bool:
    """Return whether two bounds are equal for integers: kube-apiserver truncates the fraction of a bound."""
    return old is not None and new is not None and int(old) == int(new)


def _multiple(old: float | None, new: float | None, report: Report) -> Found:
    if old == new:
        return
    if new is None or (old is not None and _are_multiples(old, new) and _are_multiples(int(old), int(new))):
        yield report("harmless", "bounds-widened", f"multipleOf: was {old}, is {new or 'anything'}")
    else:
        yield report("breaking", "bounds-narrowed", f"multipleOf: must be a multiple of {new}")


def _are_multiples(old: float, new: float) -> bool:
    """Return whether the multiples of one number are multiples of another; no number is a multiple of 0."""
    return old == 0 or (new != 0 and Fraction(str(old)) % Fraction(str(new)) == 0)


# -- texts -----------------------------------------------------------------------------------------------------------


def _pattern_and_format(old: Schema, new: Schema, report: Report) -> Found:
    before, after = old.get("pattern") or "", new.get("pattern") or ""
    if before != after and not after:
        yield report("harmless", "pattern-removed", f"no longer needs to match {before}")
    elif before != after:
        was = f", and {before} before" if before else ""
        yield report("breaking", "pattern-changed", f"must match {after}{was}: other values are rejected")
    before, after = old.get("format") or "", new.get("format") or ""
    if before == after:
        return
    is_wider = not after if new.get("type") != "integer" else after in ("", "int64")
    if is_wider or (before, after) in _WIDENED_FORMATS:
        yield report("harmless", "format-changed", f"the format was {before or 'any'}, is {after or 'any'}")
    else:
        yield report("breaking", "format-changed", f"the format is {after}, was {before or 'any'}: others are refused")


# -- lists and objects -----------------------------------------------------------------------------------------------


def _lists(old: Schema, new: Schema, report: Report) -> Found:
    key, keys = "x-kubernetes-list-type", "x-kubernetes-list-map-keys"
    before, after = old.get(key) or "atomic", new.get(key) or "atomic"
    if before != after and after == "atomic":
        why = f"the list was a {before}, is atomic: an apply replaces the items of other owners"
        yield report("breaking", "list-type-changed", why)
    elif before != after:
        yield report(
            "breaking", "list-type-changed", f"the list was {before}, is a {after}: repeated items are refused"
        )
    elif sorted(old.get(keys) or ()) != sorted(new.get(keys) or ()):
        why = f"items were identified by {', '.join(old.get(keys) or ())}, are by {', '.join(new.get(keys) or ())}"
        yield report("breaking", "list-type-changed", why)
    key = "x-kubernetes-map-type"
    before, after = old.get(key) or "granular", new.get(key) or "granular"
    if before != after:
        yield report("risky", "map-type-changed", f"was {before}, is {after}: the ownership of its fields changes")


def _embedded(old: Schema, new: Schema, report: Report) -> Found:
    before, after = (bool(each.get("x-kubernetes-embedded-resource")) for each in (old, new))
    if after and not before:
        yield report("breaking", "embedded-changed", "it is now a complete object, and needs apiVersion and kind")
    elif before and not after:
        yield report("breaking", "embedded-changed", "it is no longer a complete object: its metadata may be dropped")


# -- alternatives and rules ------------------------------------------------------------------------------------------


def _alternatives(old: Schema, new: Schema, report: Report) -> Found:
    for key in ("allOf", "anyOf", "oneOf", "not"):
        before, after = _branches(old, key), _branches(new, key)
        if before == after:
            continue
        is_wider = (
            not after
            or (key == "anyOf" and bool(before) and all(each in after for each in before))
            or (key == "allOf" and all(each in before for each in after))
        )
        if is_wider:
            yield report("harmless", "alternatives-widened", f"{key} allows more than before")
        else:
            yield report(
                "breaking", "alternatives-changed", f"{key} has changed: values that it allowed may be rejected"
            )


def _branches(schema: Schema, key: str) -> list[Any]:
    found = schema.get(key) or []
    branches = [found] if isinstance(found, Mapping) else list(found)
    if schema.get("x-kubernetes-int-or-string"):
        return [each for each in ([] if branches == _INT_OR_STRING else branches) if each != {"anyOf": _INT_OR_STRING}]
    return branches


def _rules(old: Schema, new: Schema, report: Report) -> Found:
    before = {_identity(each): each for each in old.get("x-kubernetes-validations") or ()}
    after = {_identity(each): each for each in new.get("x-kubernetes-validations") or ()}
    for key, rule in after.items():
        if key in before:
            if before[key] != rule:
                yield report("harmless", "rule-described", f"its message changed: {rule['rule']}")
        elif "oldSelf" in rule["rule"]:
            yield report("risky", "rule-added", f"an update is refused unless {rule['rule']}")
        else:
            yield report("breaking", "rule-added", f"objects are refused unless {rule['rule']}")
    for key, rule in before.items():
        if key not in after:
            yield report("harmless", "rule-removed", f"the server no longer checks that {rule['rule']}")


def _identity(rule: Mapping[str, Any]) -> tuple[str, bool]:
    return rule["rule"].strip(), bool(rule.get("optionalOldSelf"))


def _default(old: Any, new: Any, report: Report) -> Found:
    if old == new and type(old) is type(new):
        return
    shown = json.dumps(new, ensure_ascii=False)
    if old is None:
        yield report(
            "risky", "default-added", f"the default is {shown}: objects without the field read with it at once"
        )
    elif new is None:
        yield report("risky", "default-removed", f"the default {json.dumps(old, ensure_ascii=False)} is gone")
    else:
        why = f"the default was {json.dumps(old, ensure_ascii=False)}, is {shown}: objects without the field change"
        yield report("risky", "default-changed", why)
