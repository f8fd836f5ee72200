"""Label and field selectors of a request: parsed, checked against the kind, refused in apimachinery's words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyctrl._validation import names
from pyctrl.api import FieldSelector, LabelSelector
from pyctrl.apiserver._endpoints.watch import SelectionPredicate
from pyctrl.apiserver._errors import StatusError, bad_request, invalid_value
from pyctrl.apiserver._request.negotiation import is_custom
from pyctrl.apiserver._request.options import ListOptions
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.errors import SelectorError

if TYPE_CHECKING:
    from pyctrl.apiserver._registry.resources import ResourceType

ALWAYS = ("metadata.name", "metadata.namespace")


def read_selection(request: ResourceRequest, options: ListOptions) -> SelectionPredicate:
    """Read what a list, watch or deletecollection selects.

    Raises:
        Refused: 400, a selector does not parse or asks for a field that the kind does not offer.
    """
    labels, fields = LabelSelector.everything(), FieldSelector.everything()
    if options.label_selector:
        labels = _label_selector(options.label_selector)
    if options.field_selector:
        fields = _field_selector(options.field_selector, request.resource)
    return SelectionPredicate(namespace=request.target.namespace, labels=labels, fields=fields)


def _label_selector(text: str) -> LabelSelector:
    try:
        return LabelSelector.parse(text)
    except SelectorError as error:
        raise bad_request(label_selector_problem(text) or str(error)) from None


def _field_selector(text: str, resource: ResourceType) -> FieldSelector:
    for term in text.split(","):
        if term and "=" not in term:
            raise bad_request(f"invalid selector: '{text}'; can't understand '{term}'")
        if term.startswith("="):
            raise _unknown_field("", resource, _offered(resource))
    try:
        selector = FieldSelector.parse(text)
    except SelectorError as error:
        raise bad_request(str(error)) from None
    offered = _offered(resource)
    for requirement in selector.requirements:
        if requirement.field not in offered:
            raise _unknown_field(requirement.field, resource, offered)
    return selector


def _offered(resource: ResourceType) -> list[str]:
    nameless = {"metadata": {"name": "", "namespace": ""}}
    fields = dict.fromkeys(ALWAYS) | dict.fromkeys(resource.selectable_fields(nameless))
    return list(fields)


def _unknown_field(name: str, resource: ResourceType, offered: list[str]) -> StatusError:
    if is_custom(resource) or set(offered) != set(ALWAYS):
        return bad_request(f"field label not supported: {name}")
    only = ", ".join(f'"{field}"' for field in ALWAYS)
    return bad_request(f'"{name}" is not a known field selector: only {only}')


# -- what apimachinery's parser would say ------------------------------------------------------------------------

_TOKEN = re.compile(r"[ \t\r\n]*(?:(==|!=|[=!(),<>])|([^ \t\r\n=!(),<>]+)|\Z)")
_OPERATORS = ("=", "==", "!=", "in", "notin", ">", "<")
_NO_INTEGER = "for 'Gt', 'Lt' operators, the value must be an integer"
_EXPECTED_OPERATOR = "in, notin, =, ==, !=, gt, lt"


def label_selector_problem(text: str) -> str:
    """Say what apimachinery finds wrong with a label selector; "" when it is fine."""
    tokens = _Lexer(text)
    if not tokens.next:
        return ""
    while True:
        if not _is_word(tokens.next) and tokens.next != "!":
            return f"found '{tokens.next}', expected: !, identifier, or 'end of string'"
        problem = _requirement_problem(tokens)
        if problem:
            return f"unable to parse requirement: {problem}"
        separator = tokens.take()
        if not separator:
            return ""
        if separator != ",":
            return f"found '{separator}', expected: ',' or 'end of string'"
        if not _is_word(tokens.next) and tokens.next != "!":
            return f"found '{tokens.next}', expected: identifier after ','"


class _Lexer:
    def __init__(self, text: str) -> None:
        self._all = [match[1] or match[2] or "" for match in _TOKEN.finditer(text)]

    @property
    def next(self) -> str:
        """The token that is taken next; "" is the end."""
        return self._all[0]

    def take(self) -> str:
        return self._all.pop(0) if len(self._all) > 1 else self._all[0]


def _is_word(token: str) -> bool:
    return bool(token) and token[0] not in "=!(),<>"


def _requirement_problem(tokens: _Lexer) -> str:
    negated = tokens.next == "!"
    if negated:
        tokens.take()
    key = tokens.take()
    if not _is_word(key):
        expected = "identifier" if negated else "!, identifier, or 'end of string'"
        return f"found '{key}', expected: {expected}"
    if negated or tokens.next in ("", ","):
        return _content_problem(key, "", [])
    operator = tokens.take()
    if operator not in _OPERATORS:
        return f"found '{operator}', expected: {_EXPECTED_OPERATOR}"
    if operator in ("in", "notin"):
        values: list[str] = []
        return _set_problem(tokens, values) or _content_problem(key, operator, values)
    value = "" if tokens.next in ("", ",") else tokens.take()
    if value and not _is_word(value):
        return f"found '{value}', expected: identifier"
    return _content_problem(key, operator, [value])


def _set_problem(tokens: _Lexer, values: list[str]) -> str:
    opening = tokens.take()
    if opening != "(":
        return f"found '{opening}' expected: '('"
    if not (_is_word(tokens.next) or tokens.next in (",", ")")):
        return f"found '{tokens.next}', expected: ',', ')' or identifier"
    while (token := tokens.take()) != ")":
        if _is_word(token):
            values.append(token)
        elif token != ",":
            return f"found '{token}', expected: ',' or ')'"
    return ""


def _content_problem(key: str, operator: str, values: list[str]) -> str:
    """Say what is wrong with a key or a value, as the field errors that they are in apimachinery."""
    causes = [invalid_value("<nil>", key, why) for why in names.qualified_name(key)]
    if operator in (">", "<"):
        wrong = [each for each in values if not each.removeprefix("-").isdecimal()]
        causes += [invalid_value("values[0]", each, _NO_INTEGER) for each in wrong]
    for index, value in enumerate(sorted(values)):  # a set, in Go's order
        causes += [invalid_value(f"values[{index}][{key}]", value, why) for why in names.label_value(value)]
    told = list(dict.fromkeys(f"{cause.field}: {cause.message}" for cause in causes))
    return f"[{', '.join(told)}]" if len(told) > 1 else "".join(told)
