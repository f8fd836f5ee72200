"""Label and field selectors of a request: parsed, checked against the kind, refused in apimachinery's words."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from pyctrl.api import FieldSelector, LabelSelector
from pyctrl.errors import SelectorError

from ._answers import Refused, bad_request
from ._forms import is_custom
from ._options import ListOptions
from ._request import Request
from ._watch import Selection

Take = Callable[[], str]

if TYPE_CHECKING:
    from ._resources import ResourceType

ALWAYS = ("metadata.name", "metadata.namespace")


def selection_of(request: Request, options: ListOptions) -> Selection:
    """Read what a list, watch or deletecollection selects.

    Raises:
        Refused: 400, a selector does not parse or asks for a field that the kind does not offer.
    """
    labels, fields = LabelSelector.everything(), FieldSelector.everything()
    if options.label_selector:
        labels = _label_selector(options.label_selector)
    if options.field_selector:
        fields = _field_selector(options.field_selector, request.resource)
    return Selection(namespace=request.target.namespace, labels=labels, fields=fields)


def _label_selector(text: str) -> LabelSelector:
    try:
        return LabelSelector.parse(text)
    except SelectorError as error:
        raise bad_request(label_selector_problem(text) or str(error)) from None


def _field_selector(text: str, resource: ResourceType) -> FieldSelector:
    for term in text.split(","):
        if term and "=" not in term:
            raise bad_request(f"invalid selector: '{text}'; can't understand '{term}'")
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


def _unknown_field(name: str, resource: ResourceType, offered: list[str]) -> Refused:
    if is_custom(resource) or set(offered) != set(ALWAYS):
        return bad_request(f"field label not supported: {name}")
    only = ", ".join(f'"{field}"' for field in ALWAYS)
    return bad_request(f'"{name}" is not a known field selector: only {only}')


# -- what apimachinery's parser would say ------------------------------------------------------------------------

_TOKEN = re.compile(r"[ \t\r\n]*(?:(==|!=|[=!(),<>])|([^ \t\r\n=!(),<>]+)|\Z)")
_OPERATORS = ("=", "==", "!=", "in", "notin", ">", "<")
_EXPECTED_OPERATOR = "in, notin, =, ==, !=, gt, lt"


def label_selector_problem(text: str) -> str:
    """Say what apimachinery finds wrong with the form of a label selector; "" when only a key or value is."""
    tokens = _tokens(text)
    at = 0

    def take() -> str:
        nonlocal at
        token = tokens[min(at, len(tokens) - 1)]
        at += 1
        return token

    def peek() -> str:
        return tokens[min(at, len(tokens) - 1)]

    while True:
        problem = _requirement_problem(take, peek)
        if problem:
            return f"unable to parse requirement: {problem}"
        separator = take()
        if not separator:
            return ""
        if separator != ",":
            return f"found '{separator}', expected: ',' or 'end of string'"
        if not _is_word(peek()) and peek() != "!":
            return f"found '{peek()}', expected: identifier after ','"


def _tokens(text: str) -> list[str]:
    return [match[1] or match[2] or "" for match in _TOKEN.finditer(text)]


def _is_word(token: str) -> bool:
    return bool(token) and token[0] not in "=!(),<>"


def _requirement_problem(take: Take, peek: Take) -> str:
    negated = peek() == "!"
    if negated:
        take()
    key = take()
    if not _is_word(key):
        return (
            f"found '{key}', expected: identifier"
            if negated
            else f"found '{key}', expected: !, identifier, or 'end of string'"
        )
    if negated or peek() in ("", ","):
        return ""
    operator = take()
    if operator not in _OPERATORS:
        return f"found '{operator}', expected: {_EXPECTED_OPERATOR}"
    if operator in ("in", "notin"):
        return _set_problem(take, peek)
    if peek() in ("", ","):
        return ""
    value = take()
    return "" if _is_word(value) else f"found '{value}', expected: identifier"


def _set_problem(take: Take, peek: Take) -> str:
    opening = take()
    if opening != "(":
        return f"found '{opening}' expected: '('"
    if not (_is_word(peek()) or peek() == ","):
        return f"found '{peek()}', expected: ',', ')' or identifier" if peek() != ")" else ""
    while True:
        token = take()
        if token == ")":
            return ""
        if not (_is_word(token) or token == ","):
            return f"found '{token}', expected: ',' or ')'"
