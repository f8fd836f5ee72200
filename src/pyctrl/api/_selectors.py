"""Label and field selectors: parse, match and print the text of `labelSelector` and `fieldSelector`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Protocol

from pyctrl.errors import SelectorError

__all__ = ["FieldRequirement", "FieldSelector", "LabelOperator", "LabelRequirement", "LabelSelector"]

MAX_NAME = 63  # longest label value, and longest label key after its prefix
MAX_PREFIX = 253  # longest DNS subdomain

_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_PREFIX = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_INTEGER = re.compile(r"[-+]?[0-9]+")


class LabelOperator(StrEnum):
    """What a requirement asks of the value of its label; the text is the operator of the string form."""

    EQUALS = "="
    NOT_EQUALS = "!="
    IN = "in"
    NOT_IN = "notin"
    EXISTS = "exists"
    NOT_EXISTS = "!"
    GREATER = ">"
    LESS = "<"


_BINARY = {"==": LabelOperator.EQUALS} | {
    str(operator): operator
    for operator in LabelOperator
    if operator not in (LabelOperator.EXISTS, LabelOperator.NOT_EXISTS)
}
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


@dataclass(frozen=True, slots=True)
class LabelRequirement:
    """One term of a label selector, validated: keys and values must be ones that a label can have.

    An absent label satisfies `!=`, `notin` and `!`, as in Kubernetes; `>` and `<` need a label that is an integer.
    """

    key: str
    operator: LabelOperator
    values: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        problem = _key_problem(self.key) or _values_problem(self.operator, self.values)
        if problem:
            raise SelectorError(f"label requirement on {self.key!r}: {problem}")
        object.__setattr__(self, "values", tuple(sorted(set(self.values))))

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Tell whether these labels satisfy the requirement."""
        value = labels.get(self.key)
        match self.operator:
            case LabelOperator.EQUALS | LabelOperator.IN:
                return value in self.values
            case LabelOperator.NOT_EQUALS | LabelOperator.NOT_IN:
                return value not in self.values
            case LabelOperator.EXISTS:
                return value is not None
            case LabelOperator.NOT_EXISTS:
                return value is None
        number = None if value is None else _parse_int64(value)
        if number is None:
            return False
        bound = int(self.values[0])
        return number > bound if self.operator is LabelOperator.GREATER else number < bound

    def __str__(self) -> str:
        match self.operator:
            case LabelOperator.EXISTS:
                return self.key
            case LabelOperator.NOT_EXISTS:
                return f"!{self.key}"
            case LabelOperator.IN | LabelOperator.NOT_IN:
                return f"{self.key} {self.operator} ({','.join(self.values)})"
        return f"{self.key}{self.operator}{self.values[0]}"


class _Wire(Protocol):
    def to_wire(self) -> Mapping[str, object]: ...


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """A condition on labels: all requirements hold. Immutable, hashable, cheap to match.

    Requirements are kept sorted and without duplicates, so equal selectors print the same text, and that text parses
    back to an equal selector. Two extremes, told apart on purpose: `everything()` has no requirement (the empty
    selector of Kubernetes), `nothing()` has two that contradict each other (what Kubernetes makes of an *absent*
    selector), so that it also selects nothing when it is sent to a server as text.
    """

    requirements: tuple[LabelRequirement, ...] = ()
    # The common case, equality, is matched without a call per requirement.
    _equal: tuple[tuple[str, str], ...] = field(init=False, repr=False, compare=False)
    _others: tuple[LabelRequirement, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        kept = tuple(sorted(set(self.requirements), key=lambda r: (r.key, r.operator, r.values)))
        object.__setattr__(self, "requirements", kept)
        equal = tuple((r.key, r.values[0]) for r in kept if r.operator is LabelOperator.EQUALS)
        object.__setattr__(self, "_equal", equal)
        object.__setattr__(self, "_others", tuple(r for r in kept if r.operator is not LabelOperator.EQUALS))

    @classmethod
    def parse(cls, text: str) -> LabelSelector:
        """Parse `a=b`, `a==b`, `a!=b`, `a in (x,y)`, `a notin (x)`, `a`, `!a`, `a>5`, `a<5`; joined by commas.

        Raises:
            SelectorError: The text is not a selector; the message marks the place.
        """
        return cls(tuple(_Parser(text).parse()))

    @classmethod
    def from_dict(cls, labels: Mapping[str, str]) -> LabelSelector:
        """Require each of these labels with exactly this value; an empty mapping selects everything."""
        return cls(tuple(LabelRequirement(key, LabelOperator.EQUALS, (value,)) for key, value in labels.items()))

    @classmethod
    def from_wire(cls, wire: Mapping[str, object] | _Wire | None) -> LabelSelector:
        """Read `{"matchLabels": …, "matchExpressions": […]}` or the typed object of it.

        An empty selector selects everything; None, an absent one, selects nothing.
        """
        if wire is None:
            return cls.nothing()
        data = wire if isinstance(wire, Mapping) else wire.to_wire()
        labels, expressions = data.get("matchLabels") or {}, data.get("matchExpressions") or []
        if not isinstance(labels, Mapping) or not isinstance(expressions, Sequence):
            raise SelectorError(f"a label selector has an object matchLabels and a list matchExpressions, not {data!r}")
        return cls((*cls.from_dict(labels).requirements, *map(_from_expression, expressions)))

    @classmethod
    def everything(cls) -> LabelSelector:
        """Select every object, labelled or not."""
        return cls()

    @classmethod
    def nothing(cls) -> LabelSelector:
        """Select no object: requires a label `nothing` both to be there and not to be there."""
        return cls(
            (LabelRequirement("nothing", LabelOperator.EXISTS), LabelRequirement("nothing", LabelOperator.NOT_EXISTS))
        )

    @property
    def is_everything(self) -> bool:
        """Whether there is no requirement at all."""
        return not self.requirements

    @property
    def is_nothing(self) -> bool:
        """Whether this is `nothing()`. Other selectors may contradict themselves too; that is not looked for."""
        return self == LabelSelector.nothing()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Tell whether an object with these labels is selected."""
        for key, value in self._equal:
            if labels.get(key) != value:
                return False
        return all(requirement.matches(labels) for requirement in self._others)

    def to_wire(self) -> dict[str, object] | None:
        """Write the form of `spec.selector`: None for `nothing()`, `{}` for `everything()`.

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


def _key_problem(key: object) -> str | None:
    if not isinstance(key, str):
        return f"the key is a string, not {key!r}"
    prefix, slash, name = key.rpartition("/")
    if slash and (len(prefix) > MAX_PREFIX or not _PREFIX.fullmatch(prefix)):
        return f"the prefix {prefix!r} of the key is a DNS subdomain of at most {MAX_PREFIX} lower-case characters"
    if len(name) > MAX_NAME or not _NAME.fullmatch(name):
        return (
            f"the name {name!r} in the key has 1 to {MAX_NAME} letters, digits, '-', '_' and '.', "
            "a letter or digit at both ends"
        )
    return None


def _values_problem(operator: LabelOperator, values: Sequence[object]) -> str | None:
    match operator:
        case LabelOperator.EXISTS | LabelOperator.NOT_EXISTS:
            wrong = "takes no value" if values else None
        case LabelOperator.IN | LabelOperator.NOT_IN:
            wrong = None if values else "takes at least one value"
        case _:
            wrong = None if len(values) == 1 else "takes exactly one value"
    if wrong:
        return f"operator '{operator}' {wrong}, not {list(values)!r}"
    for value in values:
        if not isinstance(value, str) or len(value) > MAX_NAME or not (value == "" or _NAME.fullmatch(value)):
            return (
                f"the value {value!r} is empty or has at most {MAX_NAME} letters, digits, '-', '_' and '.', "
                "a letter or digit at both ends"
            )
        if operator in (LabelOperator.GREATER, LabelOperator.LESS) and _parse_int64(value) is None:
            return f"operator '{operator}' compares with a 64-bit integer, not {value!r}"
    return None


def _parse_int64(text: str) -> int | None:
    # 20 characters hold every 64-bit integer but those with leading zeros; int() refuses texts of thousands of digits.
    if not _INTEGER.fullmatch(text):
        return None
    digits = text.lstrip("+-").lstrip("0") or "0"
    number = int(digits) if len(digits) < 20 else 2**64
    number = -number if text[0] == "-" else number
    return number if -(2**63) <= number < 2**63 else None


class _Token(NamedTuple):
    text: str  # "" is the end of the selector
    place: int

    @property
    def is_word(self) -> bool:
        return bool(self.text) and self.text[0] not in "=!(),<>"


class _Parser:
    """Recursive descent over tokens. `in` and `notin` are operators only where an operator may stand."""

    _TOKEN = re.compile(r"[ \t\r\n]*(==|!=|[=!(),<>]|[^ \t\r\n=!(),<>]+|\Z)")

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [_Token(match[1], match.start(1)) for match in self._TOKEN.finditer(text)]
        self._next = 0

    def parse(self) -> Iterable[LabelRequirement]:
        if not self._peek().text:
            return
        while True:
            yield self._requirement()
            separator = self._take()
            if not separator.text:
                return
            if separator.text != ",":
                raise self._unexpected(separator, "',' or the end")

    def _requirement(self) -> LabelRequirement:
        negated = self._peek().text == "!"
        if negated:
            self._take()
        key = self._take()
        if not key.is_word:
            raise self._unexpected(key, "a label key" if negated else "a label key or '!'")
        if problem := _key_problem(key.text):
            raise self._error(key.place, problem)
        if negated:
            return LabelRequirement(key.text, LabelOperator.NOT_EXISTS)
        if self._peek().text in ("", ","):
            return LabelRequirement(key.text, LabelOperator.EXISTS)
        return self._comparison(key.text)

    def _comparison(self, key: str) -> LabelRequirement:
        word = self._take()
        operator = _BINARY.get(word.text)
        if operator is None:
            raise self._unexpected(word, "an operator: = == != in notin > <")
        place = self._peek().place
        is_set = operator in (LabelOperator.IN, LabelOperator.NOT_IN)
        values = self._set() if is_set else (self._value(),)
        if problem := _values_problem(operator, values):
            raise self._error(place, problem)
        return LabelRequirement(key, operator, values)

    def _value(self) -> str:
        """Take the value at this place, which may be the empty one."""
        if self._peek().text in ("", ","):
            return ""
        value = self._take()
        if not value.is_word:
            raise self._unexpected(value, "a value")
        return value.text

    def _set(self) -> tuple[str, ...]:
        opening = self._take()
        if opening.text != "(":
            raise self._unexpected(opening, "'('")
        values: list[str] = []
        while True:
            values.append(self._take().text if self._peek().is_word else "")
            separator = self._take()
            if separator.text == ")":
                return tuple(values)
            if separator.text != ",":
                raise self._unexpected(separator, "a value, ',' or ')'")

    def _peek(self) -> _Token:
        return self._tokens[self._next]

    def _take(self) -> _Token:
        token = self._tokens[self._next]
        self._next = min(self._next + 1, len(self._tokens) - 1)
        return token

    def _unexpected(self, token: _Token, expected: str) -> SelectorError:
        found = f"found {token.text!r}" if token.text else "the selector ends"
        return self._error(token.place, f"{found}, expected {expected}")

    def _error(self, place: int, problem: str) -> SelectorError:
        return _selector_error("label", self._text, place, problem)


class FieldRequirement(NamedTuple):
    """One term of a field selector: the field is, or is not, this value."""

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
    """A condition on fields of an object: all terms hold. Immutable and hashable.

    Which fields can be selected depends on the kind and is the server's business. A field that is absent has the
    empty value, so it satisfies `field=` and `field!=x`.
    """

    requirements: tuple[FieldRequirement, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "requirements", tuple(sorted(set(self.requirements))))

    @classmethod
    def parse(cls, text: str) -> FieldSelector:
        r"""Parse `field=value`, `field==value`, `field!=value`, joined by commas; in values `\` escapes `\`, `,`, `=`.

        Raises:
            SelectorError: The text is not a selector; the message marks the place.
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
        """Whether there is no requirement at all."""
        return not self.requirements

    def matches(self, getter: Callable[[str], str | None]) -> bool:
        """Tell whether an object is selected whose fields are what `getter` answers, None for absent."""
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
        raise _selector_error("field", text, start, f"{term!r} has no operator, expected field=value or field!=value")
    if operator.start() == 0:
        raise _selector_error("field", text, start, f"found {operator[0]!r}, expected the name of a field")
    value = _unescape(text, start + operator.end(), term[operator.end() :])
    return FieldRequirement(term[: operator.start()], "!=" if operator[0] == "!=" else "=", value)


def _unescape(text: str, start: int, value: str) -> str:
    def literal(match: re.Match[str]) -> str:
        if match[1] is None:
            raise _selector_error(
                "field", text, start + match.start(), f"in a value write \\{match[0]}, not {match[0]}"
            )
        return match[1]

    return re.sub(r"\\([\\,=])|[\\,=]", literal, value)


def _selector_error(kind: str, text: str, place: int, problem: str) -> SelectorError:
    return SelectorError(f"{kind} selector {text!r}: at character {place + 1}: {problem}")
