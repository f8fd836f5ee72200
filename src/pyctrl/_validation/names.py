"""Validation of names: DNS labels and subdomains, qualified names, label values, path segments.

Each rule returns the errors of a text in apimachinery's words. An empty list means that the text is valid.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

__all__ = [
    "Rule",
    "config_key",
    "label",
    "label_1035",
    "label_value",
    "masked_as_prefix",
    "path_segment",
    "qualified_name",
    "subdomain",
    "subdomain_with_underscore",
]


Rule: TypeAlias = Callable[[str], list[str]]

# Objects share namespaces, labels and annotations, so their rules cache results. Callers must not change the lists.
_cached = lru_cache(maxsize=4096)

_LABEL_TEXT = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN_TEXT = rf"{_LABEL_TEXT}(\.{_LABEL_TEXT})*"
_UNDERSCORE_LABEL = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_UNDERSCORE_TEXT = rf"{_UNDERSCORE_LABEL}(\.{_UNDERSCORE_LABEL})*"
_1035_TEXT = "[a-z]([-a-z0-9]*[a-z0-9])?"
_NAME_TEXT = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE_TEXT = f"({_NAME_TEXT})?"
_CONFIG_TEXT = "[-._a-zA-Z0-9]+"

_is_label = re.compile(_LABEL_TEXT).fullmatch
_is_subdomain = re.compile(_SUBDOMAIN_TEXT).fullmatch
_is_subdomain_with_underscore = re.compile(_UNDERSCORE_TEXT).fullmatch
_is_1035 = re.compile(_1035_TEXT).fullmatch
_is_name = re.compile(_NAME_TEXT).fullmatch
_is_value = re.compile(_VALUE_TEXT).fullmatch
_is_config_key = re.compile(_CONFIG_TEXT).fullmatch


def _grammar(words: str, pattern: str, *examples: str) -> str:
    shown = "".join(f"'{example}',  or " for example in examples[:-1])
    shown = f"e.g. {shown}'{examples[-1]}', " if examples else ""
    return f"{words} ({shown}regex used for validation is '{pattern}')"


_SUBDOMAIN = _grammar(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character",
    _SUBDOMAIN_TEXT,
    "example.com",
)
_UNDERSCORE = _grammar(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must "
    "start and end with an alphanumeric character",
    _UNDERSCORE_TEXT,
    "example.com",
)
_LABEL = _grammar(
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character",
    _LABEL_TEXT,
    "my-name",
    "123-abc",
)
_1035 = _grammar(
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character",
    _1035_TEXT,
    "my-name",
    "abc-123",
)
_QUALIFIED = _grammar(
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    _NAME_TEXT,
    "MyName",
    "my.name",
    "123-abc",
)
_VALUE = _grammar(
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character",
    _VALUE_TEXT,
    "MyValue",
    "my_value",
    "12345",
)
_CONFIG_KEY = _grammar(
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    _CONFIG_TEXT,
    "key.name",
    "KEY_NAME",
    "key-name",
)


def _max_length(limit: int, unit: str = "characters") -> str:
    return f"must be no more than {limit} {unit}"


def _dns(text: str, limit: int, is_right: Callable[[str], object], words: str) -> list[str]:
    found = [_max_length(limit)] if len(text) > limit else []
    return found if is_right(text) else [*found, words]


def subdomain(text: str) -> list[str]:
    """Validate an RFC 1123 subdomain: the names of most objects."""
    return _dns(text, 253, _is_subdomain, _SUBDOMAIN)


def subdomain_with_underscore(text: str) -> list[str]:
    """Validate an RFC 1123 subdomain that may have underscores: the search paths of a pod's DNS configuration."""
    return _dns(text, 253, _is_subdomain_with_underscore, _UNDERSCORE)


@_cached
def label(text: str) -> list[str]:
    """Validate an RFC 1123 label: names of namespaces, services, containers and volumes."""
    return _dns(text, 63, _is_label, "must not contain dots" if _is_subdomain(text) else _LABEL)


def label_1035(text: str) -> list[str]:
    """Validate an RFC 1035 label: names of custom resources in their definitions."""
    return _dns(text, 63, _is_1035, _1035)


def path_segment(text: str) -> list[str]:
    """Validate a segment of a URL path: names of roles, role bindings and certificate signing requests."""
    if text in (".", ".."):
        return [f"may not be '{text}'"]
    return [f"may not contain '{sign}'" for sign in "/%" if sign in text]


@_cached
def qualified_name(text: str) -> list[str]:
    """Validate `name` or `prefix/name`: keys of labels and annotations, finalizers, condition types."""
    prefix, slash, name = text.rpartition("/")
    found: list[str] = []
    if "/" in prefix:
        return [
            f"a valid label key {_QUALIFIED} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        ]
    if slash:
        found += ["prefix part must be non-empty"] if not prefix else [f"prefix part {why}" for why in _prefix(prefix)]
    if not name:
        return [*found, "name part must be non-empty", f"name part {_QUALIFIED}"]
    if len(name) > 63:
        found.append(f"name part {_max_length(63, 'bytes')}")
    return found if _is_name(name) else [*found, f"name part {_QUALIFIED}"]


def _prefix(text: str) -> list[str]:
    found = [_max_length(253, "bytes")] if len(text) > 253 else []
    return found if _is_subdomain(text) else [*found, _SUBDOMAIN]


@_cached
def label_value(text: str) -> list[str]:
    """Validate the value of a label."""
    found = [_max_length(63, "bytes")] if len(text) > 63 else []
    return found if _is_value(text) else [*found, _VALUE]


def config_key(text: str) -> list[str]:
    """Validate a key of the data of a ConfigMap or Secret."""
    found = [_max_length(253)] if len(text) > 253 else []
    if not _is_config_key(text):
        return [*found, _CONFIG_KEY]
    if text in (".", ".."):
        return [*found, f"must not be '{text}'"]
    return [*found, "must not start with '..'"] if text.startswith("..") else found


def masked_as_prefix(text: str) -> str:
    """Return a generateName without its trailing dash, so that the rules for names apply to it.

    This is apimachinery's `maskTrailingDash`: the server appends to a generateName, so the dash is valid.
    """
    return text[:-2] + "a" if text.endswith("-") and len(text) > 1 else text  # upstream removes two characters too
