"""Differences of two states: objects that are missing, surplus or changed, as text in the manner of kubectl diff."""

from __future__ import annotations

import difflib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from pyctrl.simulation._history import ObjectId
from pyctrl.simulation._oracle.normal_form import NormalObject

__all__ = ["ObjectDifference", "compare", "to_text"]

_CONTEXT = 3  # lines, as kubectl diff
_DUMPER: type[yaml.SafeDumper] = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_LONGEST = 120  # lines of a whole diff: a reader looks at the first


@dataclass(frozen=True, slots=True)
class ObjectDifference:
    """An object that is not as it is in the reference.

    Attributes:
        expected: The object in the reference; None if this run has one too many.
        found: The object in this run; None if it is missing.
    """

    expected: NormalObject | None
    found: NormalObject | None

    @property
    def object_id(self) -> ObjectId:
        """The object; its canonical name if it is missing."""
        if self.found is not None:
            return self.found.object_id
        assert self.expected is not None
        return self.expected.canonical


Groups = dict[ObjectId, list[NormalObject]]


def compare(
    expected: Iterable[NormalObject], found: Iterable[NormalObject], *, unstable: Collection[ObjectId] = ()
) -> list[ObjectDifference]:
    """Return how objects differ from those of the reference.

    Objects with one canonical name are matched as a multiset: first those with equal content, then the most similar.

    Args:
        expected: The objects of the reference.
        found: The objects of a run.
        unstable: Canonical names of objects that come and go in the reference too, which are not compared.
    """
    left, right = _groups(expected), _groups(found)
    return [
        difference
        for canonical in sorted(left.keys() | right.keys())
        if canonical not in unstable
        for difference in _compare_group(left.get(canonical, []), right.get(canonical, []))
    ]


def _groups(objects: Iterable[NormalObject]) -> Groups:
    groups: Groups = defaultdict(list)
    for each in objects:
        groups[each.canonical].append(each)
    return groups


def _compare_group(expected: Sequence[NormalObject], found: Sequence[NormalObject]) -> Iterator[ObjectDifference]:
    if len(expected) == len(found) == 1:
        if expected[0].content != found[0].content:
            yield ObjectDifference(expected[0], found[0])
        return
    rest = _without(expected, Counter(each.content for each in found))
    others = _without(found, Counter(each.content for each in expected))
    while rest and others:
        left, right = min(((a, b) for a in rest for b in others), key=lambda pair: _distance(*pair))
        yield ObjectDifference(left, right)
        rest.remove(left)
        others.remove(right)
    yield from (ObjectDifference(each, None) for each in rest)
    yield from (ObjectDifference(None, each) for each in others)


def _without(objects: Sequence[NormalObject], equal: Counter[bytes]) -> list[NormalObject]:
    """Return the objects that have no equal one on the other side."""
    rest = []
    for each in objects:
        if equal[each.content]:
            equal[each.content] -= 1
        else:
            rest.append(each)
    return rest


def _distance(one: NormalObject, other: NormalObject) -> tuple[bool, int]:
    """Return how different two objects are: by their owners first, then in fields."""
    first, second = Counter(_fields(one.tree)), Counter(_fields(other.tree))
    owners = [(each.tree.get("metadata") or {}).get("ownerReferences") for each in (one, other)]
    return owners[0] != owners[1], (first - second).total() + (second - first).total()


def _fields(value: Any, path: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _fields(item, f"{path}.{key}")
    elif isinstance(value, list):
        for item in value:
            yield from _fields(item, f"{path}[]")
    else:
        yield f"{path}={value!r}"


def to_text(differences: Sequence[ObjectDifference]) -> str:
    """Return differences as lines of a unified diff: YAML of what counts, and one line for an object as a whole."""
    lines = [*_whole_objects(differences)]
    for each in differences:
        if each.expected is not None and each.found is not None:
            lines += _unified(each.expected, each.found)
    if len(lines) > _LONGEST:
        lines[_LONGEST:] = [f"... {len(lines) - _LONGEST} more lines"]
    return "\n".join(lines)


def _whole_objects(differences: Sequence[ObjectDifference]) -> Iterator[str]:
    missing = Counter(each.object_id for each in differences if each.found is None)
    yield from (f"- {name}  (missing{f', {count} times' if count > 1 else ''})" for name, count in missing.items())
    yield from (f"+ {each.object_id}  (surplus)" for each in differences if each.expected is None)


def _unified(expected: NormalObject, found: NormalObject) -> Iterator[str]:
    old, new = _lines(expected), _lines(found)
    diff = difflib.unified_diff(
        old, new, f"{expected.canonical}  (reference)", f"{found.object_id}  (this run)", lineterm="", n=_CONTEXT
    )
    position = 0
    for line in diff:
        if line.startswith("@@"):
            position = int(line.split()[1].lstrip("-").split(",")[0])
            line = f"@@ {_parents(old, position)} @@".replace("@@  @@", "@@")
        yield line


def _parents(lines: Sequence[str], position: int) -> str:
    """Return the keys above a line, such as ``spec.template``, which a hunk's context may not show."""
    found: list[str] = []
    if not 0 < position <= len(lines):
        return ""
    indent = len(lines[position - 1]) - len(lines[position - 1].lstrip())
    for line in reversed(lines[: position - 1]):
        depth = len(line) - len(line.lstrip())
        if depth < indent and line.rstrip().endswith(":"):
            found.append(line.strip().removeprefix("- ").rstrip(":"))
            indent = depth
    return ".".join(reversed(found))


def _lines(each: NormalObject) -> list[str]:
    text: str = yaml.dump(each.tree, Dumper=_DUMPER, sort_keys=True, allow_unicode=True, width=120)
    return text.splitlines()
