"""Label, field and shard selectors of list, watch and deletecollection, with apimachinery's error messages."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from pyctrl._validation import names
from pyctrl.api import FieldSelector, LabelSelector, ShardSelector
from pyctrl.apiserver._errors import StatusError, bad_request, invalid_value, unknown_error
from pyctrl.apiserver._request.options import ListOptions
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._storage.storage import StoredObject
from pyctrl.errors import SelectorError

if TYPE_CHECKING:
    from pyctrl.apiserver._resources.resource_type import ResourceType

__all__ = ["SelectionPredicate", "label_selector_problem", "read_selection"]

_UID = "object.metadata.uid"  # the other field of shard selectors is the namespace
_EVERY_KIND = ("metadata.name", "metadata.namespace")  # field labels of a kind that declares none


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionPredicate:
    """Decides which objects a list or watch selects."""

    namespace: str = ""
    labels: LabelSelector = field(default_factory=LabelSelector.everything)
    fields: FieldSelector = field(default_factory=FieldSelector.everything)
    shards: ShardSelector | None = None

    def matches(self, stored: StoredObject, resource: ResourceType) -> bool:
        """Return whether an object is selected."""
        if self.namespace and stored.namespace != self.namespace:
            return False
        return self.matches_selectors(stored, resource)

    def matches_selectors(self, stored: StoredObject, resource: ResourceType) -> bool:
        """Return whether the selectors match an object that is known to be in the namespace."""
        if self.shards is not None and not self.matches_shard(stored):
            return False
        if self.labels.requirements and not self.labels.matches(stored.labels):
            return False
        if not self.fields.requirements:
            return True
        return self.fields.matches(lambda name: _field_of(stored, resource, name))

    def matches_shard(self, stored: StoredObject) -> bool:
        """Return whether the hash of an object is selected; it is the same for all states of the object."""
        shards = self.shards
        if shards is None:
            return True
        return shards.contains(stored.uid_hash) if shards.field == _UID else shards.matches(stored.namespace)

    @property
    def is_filtering(self) -> bool:
        """Whether there is a selector besides the namespace."""
        return bool(self.has_attributes or self.shards)

    @property
    def name(self) -> str | None:
        """The name that the selector of fields requires; None without one."""
        found = (
            each.value for each in self.fields.requirements if each.field == "metadata.name" and each.operator == "="
        )
        return next(found, None)

    @property
    def has_attributes(self) -> bool:
        """Whether there is a selector of labels or fields; then the number of remaining items is unknown."""
        return bool(self.labels.requirements or self.fields.requirements)


def _field_of(stored: StoredObject, resource: ResourceType, name: str) -> str | None:
    """Return the value of a field label; name and namespace without decoding the object."""
    if name == "metadata.name":
        return stored.name
    if name == "metadata.namespace":
        return stored.namespace
    return stored.fields(resource).get(name)


def read_selection(
    request: ResourceRequest, options: ListOptions, features: Collection[str] = ()
) -> SelectionPredicate:
    """Return the selection of a list, watch or deletecollection.

    Args:
        features: The enabled features: without `ShardedListAndWatch` the shard selector is ignored.

    Raises:
        StatusError: 400, a selector does not parse, or names a field label that the kind does not support; 500, the
            shard selector does not parse.
    """
    labels, fields = LabelSelector.everything(), FieldSelector.everything()
    if options.label_selector:
        labels = _label_selector(options.label_selector)
    if options.field_selector:
        fields = _field_selector(options.field_selector, request.resource)
    shards: ShardSelector | None = None
    if options.shard_selector and "ShardedListAndWatch" in features:
        shards = _shard_selector(options.shard_selector)
    return SelectionPredicate(namespace=request.target.namespace, labels=labels, fields=fields, shards=shards)


@lru_cache(maxsize=256)  # a client sends the same selector again and again
def _shard_selector(text: str) -> ShardSelector:
    try:
        return ShardSelector.parse(text)
    except SelectorError:
        from pyctrl.cel import CompileFailed, parse_shard_selector  # lazy: clients send what the parser above reads

        try:
            return parse_shard_selector(text)
        except CompileFailed as failed:
            raise unknown_error(f"invalid shard selector: {failed}") from None


def _label_selector(text: str) -> LabelSelector:
    try:
        return LabelSelector.parse(text)
    except SelectorError as error:
        raise bad_request(label_selector_problem(text) or str(error)) from None


def _field_selector(text: str, resource: ResourceType) -> FieldSelector:
    terms = [each for each in _TERM.findall(text) if each]
    for term in sorted(terms):
        if problem := _term_problem(term):
            raise bad_request(problem.format(selector=text))
    for term in terms:
        if term.startswith(("=", "!=")) and term not in _EMPTY_TERMS:
            raise _unknown_field("", resource, _supported_fields(resource))
    try:
        selector = FieldSelector.parse(",".join(each for each in terms if each not in _EMPTY_TERMS))
    except SelectorError as error:
        raise bad_request(str(error)) from None
    supported = _supported_fields(resource)
    for requirement in selector.requirements:
        if requirement.field not in supported:
            raise _unknown_field(requirement.field, resource, supported)
    return selector


def _term_problem(term: str) -> str:
    """Return apimachinery's error message for a term of a field selector; "" when it is valid."""
    operator = _OPERATOR.search(term)
    if operator is None:
        return f"invalid selector: '{{selector}}'; can't understand '{term}'"
    value = _ESCAPED.sub("", term[operator.end() :])
    wrong = re.search(r"\\.?|=", value, re.DOTALL)
    if wrong is None:
        return ""
    if wrong[0] == "=":
        return f"invalid field selector: unescaped character in value: {ord('=')}"
    return f"invalid field selector: invalid escape sequence: {wrong[0]}"


def _supported_fields(resource: ResourceType) -> list[str]:
    nameless = {"metadata": {"name": "", "namespace": ""}}
    fields = list(resource.selectable_fields(nameless))
    return fields if resource.is_custom or not {*fields} <= {*_EVERY_KIND} else list(_EVERY_KIND)


#: Terms of a field selector, separated by commas that are not escaped; the operator of a term; escaped characters.
_TERM = re.compile(r"(?:\\.|[^,\\]|\\\Z)+", re.DOTALL)
_OPERATOR = re.compile(r"!=|==|=")
_ESCAPED = re.compile(r"\\[\\,=]")
_EMPTY_TERMS = ("=", "==", "!=")  # apimachinery ignores them
_UNKNOWN_FIELD = {  # where upstream words it in another way
    ("batch", "Job"): 'field label "{name}" not supported for Job',
    ("resource.k8s.io", "ResourceSlice"): "field label not supported for {version}, Kind=ResourceSlice: {name}",
}


def _unknown_field(name: str, resource: ResourceType, supported: list[str]) -> StatusError:
    if resource.is_custom or set(supported) != set(_EVERY_KIND):
        unknown = _UNKNOWN_FIELD.get((resource.group, resource.kind), "field label not supported: {name}")
        return bad_request(unknown.format(name=name, version=resource.api_version))
    only = ", ".join(f'"{field}"' for field in _EVERY_KIND)
    return bad_request(f'"{name}" is not a known field selector: only {only}')


# -- error messages of apimachinery's parser --------------------------------------------------------------------

_TOKEN = re.compile(r"[ \t\r\n]*(?:(==|!=|[=!(),<>])|([^ \t\r\n=!(),<>]+)|\Z)")
_OPERATORS = ("=", "==", "!=", "in", "notin", ">", "<")
_NO_INTEGER = "for 'Gt', 'Lt' operators, the value must be an integer"
_EXPECTED_OPERATOR = "in, notin, =, ==, !=, gt, lt"


def label_selector_problem(text: str) -> str:
    """Return apimachinery's error message for a label selector; "" when it is valid."""
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
        """The token that `take` returns next; "" is the end."""
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
    """Return the field errors of a key and its values as one message."""
    wrong_key = "; ".join(names.qualified_name(key))
    causes = [invalid_value("<nil>", key, wrong_key)] if wrong_key else []
    if operator in (">", "<"):
        wrong = [each for each in values if not each.removeprefix("-").isdecimal()]
        causes += [invalid_value("values[0]", each, _NO_INTEGER) for each in wrong]
    for index, value in enumerate(sorted(values)):  # a set, in Go's order
        if wrong_value := "; ".join(names.label_value(value)):
            causes.append(invalid_value(f"values[{index}][{key}]", value, wrong_value))
    messages = list(dict.fromkeys(f"{cause.field}: {cause.message}" for cause in causes))
    return f"[{', '.join(messages)}]" if len(messages) > 1 else "".join(messages)
