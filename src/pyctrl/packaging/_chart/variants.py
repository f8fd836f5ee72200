"""Merge of the variants of an object into one template with conditions.

A chart leaves open what `pyctrl.packaging.Settings` decides. Therefore the objects are generated for every combination
of switches, as `install` generates them, and merged. What all variants share appears once; the rest under conditions.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, TypeAlias

from pyctrl.packaging._chart.template import ConditionalEntry, Entries, Items, Tree, argument, negated

__all__ = ["SWITCHES", "Choice", "all_of", "condition", "merge_variants"]

#: A combination of switches: those that are on.
Choice: TypeAlias = frozenset[str]

#: The condition of each switch, in the order in which conditions are combined.
SWITCHES = {
    "keep": ".Values.crds.keep",
    "watch": ".Values.watchNamespaces",
    "cert-manager": 'eq .Values.webhook.certificates "cert-manager"',
    "sharding": ".Values.sharding.enabled",
    "metrics": ".Values.metrics.enabled",
    "secure": ".Values.metrics.secure",
    "prometheus": ".Values.prometheus.enabled",
    "network-policy": ".Values.networkPolicy.enabled",
}

_Literal: TypeAlias = tuple[str, bool]
_Case: TypeAlias = tuple[Choice, Any]


def merge_variants(cases: Sequence[tuple[Choice, Any]]) -> Tree:
    """Merge the trees of several choices into one. The cases are all objects, all lists, or all equal."""
    first = cases[0][1]
    if all(value == first for _, value in cases):
        return first
    choices = [choice for choice, _ in cases]
    if isinstance(first, dict):
        found = []
        for key in _in_order(value for _, value in cases):
            having = [(choice, value[key]) for choice, value in cases if key in value]
            found += [ConditionalEntry(_of(group, choices), key, merge_variants(group)) for group in _mergeable(having)]
        return Entries(tuple(found))
    items = [(choice, {_identity(item): item for item in value}) for choice, value in cases]
    order = _in_order(value for _, value in items)
    same = [[(choice, found[each]) for choice, found in items if each in found] for each in order]
    return Items(tuple(ConditionalEntry(_of(each, choices), None, merge_variants(each)) for each in same))


def _of(cases: Sequence[_Case], choices: Sequence[Choice]) -> str:
    return condition([choice for choice, _ in cases], choices)


def _mergeable(cases: Sequence[_Case]) -> Iterable[list[_Case]]:
    """Group cases that can be merged: objects, lists, and equal scalars."""
    groups: dict[Hashable, list[_Case]] = {}
    for choice, value in cases:
        kind = type(value) if value and isinstance(value, dict | list) else repr(value)
        groups.setdefault(kind, []).append((choice, value))
    return groups.values()


def _identity(item: Any) -> Hashable:
    """Return the identity of a list item: its name, or else its whole value."""
    if isinstance(item, dict) and isinstance(item.get("name"), str):
        return "name", item["name"]
    return repr(item)


def _in_order(sequences: Iterable[Iterable[Any]]) -> list[Any]:
    """Merge sequences without duplicates, in the order of the longest sequence that has an item."""
    found: list[Any] = []
    for sequence in sorted((list(each) for each in sequences), key=len, reverse=True):
        place = 0
        for each in sequence:
            if each in found:
                place = found.index(each) + 1
            else:
                found.insert(place, each)
                place += 1
    return found


# -- conditions ------------------------------------------------------------------------------------------------------


def condition(chosen: Sequence[Choice], choices: Sequence[Choice]) -> str:
    """Return the condition that holds for exactly the chosen ones of the choices; "" if all are chosen."""
    if (literals := _common(chosen, choices)) is not None:
        return all_of(*(_expression(each) for each in literals))
    others = [each for each in choices if each not in chosen]
    if (literals := _common(others, choices)) is not None:
        return _joined("or", [_expression((name, not is_on)) for name, is_on in literals])
    name = next(name for name in SWITCHES if len({name in choice for choice in chosen}) == 2)
    branches = []
    for is_on in (True, False):
        inner, outer = ([each for each in some if (name in each) is is_on] for some in (chosen, choices))
        branches.append(all_of(_expression((name, is_on)), condition(inner, outer)))
    return _joined("or", branches)


def all_of(*conditions: str) -> str:
    """Return the conjunction of conditions; "" is true."""
    return _joined("and", [each for each in conditions if each])


def _common(chosen: Sequence[Choice], choices: Sequence[Choice]) -> list[_Literal] | None:
    """Return the fewest switches that distinguish the chosen from the other choices; None if none do."""
    literals = [(name, is_on) for name in SWITCHES for is_on in (True, False)]
    literals = [(name, is_on) for name, is_on in literals if all((name in each) is is_on for each in chosen)]
    if _count(literals, choices) != len(chosen):
        return None
    for literal in reversed(literals):
        fewer = [each for each in literals if each != literal]
        if _count(fewer, choices) == len(chosen):
            literals = fewer
    return literals


def _count(literals: Sequence[_Literal], choices: Sequence[Choice]) -> int:
    return sum(all((name in choice) is is_on for name, is_on in literals) for choice in choices)


def _expression(literal: _Literal) -> str:
    name, is_on = literal
    return SWITCHES[name] if is_on else negated(SWITCHES[name])


def _joined(word: str, conditions: Sequence[str]) -> str:
    """Join conditions with an operator; nested ones with the same operator are flattened."""
    if len(conditions) < 2:
        return "".join(conditions)
    return " ".join(
        [
            word,
            *(each.removeprefix(f"{word} ") if each.startswith(f"{word} ") else argument(each) for each in conditions),
        ]
    )
