"""Kubernetes' format library: `format.dns1123Label().validate(text)`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from pyctrl._go.urls import url_error
from pyctrl._validation import names
from pyctrl._validation.formats import is_of_format
from pyctrl.cel._signatures import Table
from pyctrl.cel._values import NONE, Optional

__all__ = ["NAMED_FORMATS"]


@dataclass(frozen=True, slots=True)
class NamedFormat:
    """A string format and the function that returns the errors of a text."""

    TYPE: ClassVar[str] = "kubernetes.NamedFormat"
    name: str
    validate: Callable[[str], list[str]]


def _prefix(rule: names.Rule) -> names.Rule:
    """Return the rule for a prefix of a name, which may end with a dash."""
    return lambda text: rule(names.masked_as_prefix(text))


def _value(is_valid: Callable[[str], bool], message: str) -> names.Rule:
    return lambda text: [] if is_valid(text) else [message]


def _uri(text: str) -> list[str]:
    why = url_error(text)
    return [why] if why else []


def _is_datetime(text: str) -> bool:
    return " " not in text and is_of_format("date-time", text)


_FORMATS = {
    each.name: each
    for each in (
        NamedFormat("dns1123Label", names.label),
        NamedFormat("dns1123Subdomain", names.subdomain),
        NamedFormat("dns1035Label", names.label_1035),
        NamedFormat("qualifiedName", names.qualified_name),
        NamedFormat("dns1123LabelPrefix", _prefix(names.label)),
        NamedFormat("dns1123SubdomainPrefix", _prefix(names.subdomain)),
        NamedFormat("dns1035LabelPrefix", _prefix(names.label_1035)),
        NamedFormat("labelValue", names.label_value),
        NamedFormat("uri", _uri),
        NamedFormat("uuid", _value(lambda text: is_of_format("uuid", text), "does not match the UUID format")),
        NamedFormat("byte", _value(lambda text: text != "" and is_of_format("byte", text), "invalid base64")),
        NamedFormat("date", _value(lambda text: is_of_format("date", text), "invalid date")),
        NamedFormat("datetime", _value(_is_datetime, "invalid datetime")),
    )
}


def _named(name: str) -> Optional:
    return Optional(_FORMATS[name]) if name in _FORMATS else NONE


def _validate(form: NamedFormat, text: str) -> Optional:
    errors = form.validate(text)
    return Optional(errors) if errors else NONE


def _constant(form: NamedFormat) -> Callable[[], NamedFormat]:
    return lambda: form


NAMED_FORMATS: Table = {
    "format.named": [("(string) -> optional_type(kubernetes.NamedFormat)", _named)],
    "validate": [("kubernetes.NamedFormat.(string) -> optional_type(list(string))", _validate)],
    **{f"format.{name}": [("() -> kubernetes.NamedFormat", _constant(form))] for name, form in _FORMATS.items()},
}
