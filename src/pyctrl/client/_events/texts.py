"""Conversion of names and texts to valid fields of an Event, so that the server accepts any recorded event."""

from __future__ import annotations

import re

__all__ = ["is_event_name", "qualified_name", "reporting_instance", "truncate"]

NAME_LENGTH = 253  # of an object
CONTROLLER_LENGTH = 63  # of a qualified name without its prefix
INSTANCE_LENGTH = 128  # ReportingInstanceLengthLimit of kube-apiserver's validation

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_is_subdomain = re.compile(_SUBDOMAIN).fullmatch
_is_qualified = re.compile(rf"({_SUBDOMAIN}/)?[A-Za-z0-9]([-A-Za-z0-9_.]{{0,61}}[A-Za-z0-9])?").fullmatch
_other = re.compile(r"[^A-Za-z0-9_.-]+")


def is_event_name(name: str) -> bool:
    """Return True for a valid name of an Event. A role can have the name ``system:node``, an Event cannot."""
    return len(name) <= NAME_LENGTH and _is_subdomain(name) is not None


def qualified_name(name: str) -> str:
    """Return a qualified name, such as ``evc`` or ``example.com/evc``, unchanged, and make others qualified."""
    if _is_qualified(name):
        return name
    return _other.sub("-", name)[:CONTROLLER_LENGTH].strip("-_.") or "controller"


def reporting_instance(controller: str, host: str) -> str:
    """Return the ``reportingInstance`` of a controller on a host."""
    return truncate(f"{controller}-{host}", INSTANCE_LENGTH)


def truncate(text: str, limit: int) -> str:
    """Truncate a text to ``limit`` bytes, with an ellipsis. The server counts bytes."""
    encoded = text.encode(errors="replace")  # a lone surrogate, as in file names, is not valid UTF-8
    if len(encoded) <= limit:
        return encoded.decode()
    return encoded[: limit - len("…".encode())].decode(errors="ignore") + "…"
