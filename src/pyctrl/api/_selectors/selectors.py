"""Label and field selectors: parse, match and print the text of `labelSelector` and `fieldSelector`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, Protocol

from pyctrl.api._selectors.label_parser import LabelParser, selector_error
from pyctrl.api._selectors.label_requirement import LabelOperator, LabelRequirement
from pyctrl.errors import SelectorError

__all__ = ["FieldRequirement", "FieldSelector", "LabelOperator", "LabelRequirement", "LabelSelector"]

_FROM_EXPRESSION = {
    "In": LabelOperator.IN,
    "NotIn": LabelOperator.NOT_IN,
    "Exists": LabelOperator.EXISTS,
    "DoesNotExist": LabelOperator.NOT_EXISTS,
}
_TO_EXPRESSION = {operator: word for word, operator in _FROM_EXPRESSION.items()} | {
    LabelOperator.EQUALS: "In",
    LabelOperator.NOT_EQUALS: "NotIn",
}


class _Wire(Protocol):
    def to_wire(self) -> Mapping[str, object]: ...


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """A condition on labels: all requirements must hold. Immutable, hashable, cheap to match.

    Requirements are sorted and without duplicates, so equal selectors print the same text, and that text parses back to
    an equal selector. `everything()` has no requirement (the empty selector of Kubernetes). `nothing()` has two that
    contradict each other (the meaning of an *absent* selector in Kubernetes), so that it also selects nothing when
    it is sent to a server as text.
    """

    requirements: tuple[LabelRequirement, ...] = ()
    # The common case, equality, is matched without a call per requirement.
    _equal: tuple[tuple[str, str], ...] = field(init=False, repr=False, compare=False)
    _others: tuple[LabelRequirement, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        kept = tuple(self.requirements)
        if len(kept) > 1:  # keys usually differ, and hashing requirements is slow
            keys = [requirement.key for requirement in kept]
            ordered = sorted(set(keys))
            if len(ordered) < len(keys):
                kept = tuple(sorted(set(kept), key=lambda r: (r.key, r.operator, r.values)))
            elif ordered != keys:
                by_key = dict(zip(keys, kept, strict=True))
                kept = tuple([by_key[key] for key in ordered])
        object.__setattr__(self, "requirements", kept)
        equal = tuple([(r.key, r.values[0]) for r in kept if r.operator is LabelOperator.EQUALS])
        object.__setattr__(self, "_equal", equal)
        others = () if len(equal) == len(kept) else tuple(r for r in kept if r.operator is not LabelOperator.EQUALS)
        object.__setattr__(self, "_others", others)

    @classmethod
    def parse(cls, text: str) -> LabelSelector:
        """Parse `a=b`, `a==b`, `a!=b`, `a in (x,y)`, `a notin (x)`, `a`, `!a`, `a>5`, `a<5`; joined by commas.

        Raises:
            SelectorError: The text is not a selector; the message has the position.
        """
        return cls(tuple(LabelParser(text).parse()))

    @classmethod
    def from_dict(cls, labels: Mapping[str, str]) -> LabelSelector:
        """Require each of these labels with exactly this value; an empty mapping selects everything."""
        pairs = tuple(labels.items())
        if cls is LabelSelector and all(type(value) is str for _, value in pairs):
            return _of_labels(pairs)
        return cls(_equalities(pairs))

    @classmethod
    def from_wire(cls, wire: Mapping[str, object] | _Wire | None) -> LabelSelector:
        """Read `{"matchLabels": …, "matchExpressions": […]}` or the typed object of it.

        An empty selector selects everything; None (an absent one) selects nothing.
        """
        if wire is None:
            return cls.nothing()
        data = wire if isinstance(wire, Mapping) else wire.to_wire()
        labels, expressions = data.get("matchLabels") or {}, data.get("matchExpressions") or []
        if not isinstance(labels, Mapping) or not isinstance(expressions, Sequence):
            raise SelectorError(f"a label selector has an object matchLabels and a list matchExpressions, not {data!r}")
        if not expressions:
            return cls.from_dict(labels)
        return cls((*cls.from_dict(labels).requirements, *map(_from_expression, expressions)))

    @classmethod
    def everything(cls) -> LabelSelector:
        """Select every object, labelled or not."""
        return cls()

    @classmethod
    def nothing(cls) -> LabelSelector:
        """Select no object: requires that a label `nothing` both exists and does not exist."""
        return cls(
            (LabelRequirement("nothing", LabelOperator.EXISTS), LabelRequirement("nothing", LabelOperator.NOT_EXISTS))
        )

    @property
    def is_everything(self) -> bool:
        """Whether there are no requirements."""
        return not self.requirements

    @property
    def is_nothing(self) -> bool:
        """Whether this is `nothing()`. Other selectors that contradict themselves are not detected."""
        return self == LabelSelector.nothing()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether an object with these labels is selected."""
        for key, value in self._equal:
            if labels.get(key) != value:
                return False
        return all(requirement.matches(labels) for requirement in self._others)

    def to_wire(self) -> dict[str, object] | None:
        """Return the form of `spec.selector`: None for `nothing()`, `{}` for `everything()`.

        Raises:
            SelectorError: A requirement is `>` or `<`, which only the string form has.
        """
        if self.is_nothing:
            return None
        labels: dict[str, str] = {}
        expressions: list[dict[str, object]] = []
        for requirement in self.requirements:
            if requirement.operator is LabelOperator.EQUALS and requirement.key not in labels:
                labels[requirement.key] = requirement.values[0]
            else:
                expressions.append(_to_expression(requirement))
        parts = {"matchLabels": labels, "matchExpressions": expressions}
        return {name: part for name, part in parts.items() if part}

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))


@lru_cache(maxsize=1024)  # controllers read the selectors of the same objects again and again
def _of_labels(labels: tuple[tuple[str, str], ...]) -> LabelSelector:
    return LabelSelector(_equalities(labels))


def _equalities(labels: Iterable[tuple[str, str]]) -> tuple[LabelRequirement, ...]:
    return tuple([LabelRequirement(key, LabelOperator.EQUALS, (value,)) for key, value in labels])


def _from_expression(expression: object) -> LabelRequirement:
    if not isinstance(expression, Mapping):
        raise SelectorError(f"each of matchExpressions is an object with key, operator and values, not {expression!r}")
    word, values = expression.get("operator"), expression.get("values") or ()
    if word not in _FROM_EXPRESSION:
        raise SelectorError(f"operator {word!r} of a label selector is not one of {', '.join(_FROM_EXPRESSION)}")
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise SelectorError(f"values of a label selector are a list of strings, not {values!r}")
    return LabelRequirement(expression.get("key") or "", _FROM_EXPRESSION[word], tuple(values))


def _to_expression(requirement: LabelRequirement) -> dict[str, object]:
    word = _TO_EXPRESSION.get(requirement.operator)
    if word is None:
        raise SelectorError(f"'{requirement}' has no form in matchExpressions; only selectors in text have > and <")
    expression: dict[str, object] = {"key": requirement.key, "operator": word}
    return expression | {"values": list(requirement.values)} if requirement.values else expression


class FieldRequirement(NamedTuple):
    """One term of a field selector: a field equals, or does not equal, a value."""

    field: str
    operator: str  # "=" or "!="
    value: str

    def __str__(self) -> str:
        return self.field + self.operator + _RESERVED.sub(r"\\\g<0>", self.value)


_RESERVED = re.compile(r"[\\,=]")
_TERM = re.compile(r"((?:\\.|[^\\,]|\\\Z)*)(?:,|\Z)", re.DOTALL)  # up to a comma that is not escaped
_FIELD_OPERATOR = re.compile(r"!=|==|=")


@dataclass(frozen=True, slots=True)
class FieldSelector:
    """A condition on fields of an object: all terms must hold. Immutable and hashable.

    The server decides which fields of a kind can be selected. An absent field has the empty value, so it satisfies
    `field=` and `field!=x`.
    """

    requirements: tuple[FieldRequirement, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "requirements", tuple(sorted(set(self.requirements))))

    @classmethod
    def parse(cls, text: str) -> FieldSelector:
        r"""Parse `field=value`, `field==value`, `field!=value`, joined by commas; in values `\` escapes `\`, `,`, `=`.

        Raises:
            SelectorError: The text is not a selector; the message has the position.
        """
        return cls(tuple(_field_terms(text)))

    @classmethod
    def from_dict(cls, fields: Mapping[str, str]) -> FieldSelector:
        """Require each of these fields with exactly this value; an empty mapping selects everything."""
        return cls(tuple(FieldRequirement(name, "=", value) for name, value in fields.items()))

    @classmethod
    def everything(cls) -> FieldSelector:
        """Select every object."""
        return cls()

    @property
    def is_everything(self) -> bool:
        """Whether there are no requirements."""
        return not self.requirements

    def matches(self, getter: Callable[[str], str | None]) -> bool:
        """Return whether an object is selected. `getter` returns the value of a field, or None if it is absent."""
        return all(
            ((getter(requirement.field) or "") == requirement.value) is (requirement.operator == "=")
            for requirement in self.requirements
        )

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))


def _field_terms(text: str) -> Iterable[FieldRequirement]:
    for match in _TERM.finditer(text):
        if match[1]:
            yield _field_term(text, match.start(), match[1])


def _field_term(text: str, start: int, term: str) -> FieldRequirement:
    operator = _FIELD_OPERATOR.search(term)
    if operator is None:
        raise selector_error("field", text, start, f"{term!r} has no operator, expected field=value or field!=value")
    if operator.start() == 0:
        raise selector_error("field", text, start, f"found {operator[0]!r}, expected the name of a field")
    value = _unescape(text, start + operator.end(), term[operator.end() :])
    return FieldRequirement(term[: operator.start()], "!=" if operator[0] == "!=" else "=", value)


def _unescape(text: str, start: int, value: str) -> str:
    def literal(match: re.Match[str]) -> str:
        if match[1] is None:
            raise selector_error("field", text, start + match.start(), f"in a value write \\{match[0]}, not {match[0]}")
        return match[1]

    return re.sub(r"\\([\\,=])|[\\,=]", literal, value)
