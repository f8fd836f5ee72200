"""What the server takes for the names and texts of an event; nothing that a recorder is given makes it refuse one."""

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
    """Say whether an Event can have this name: a role can be called ``system:node``, an Event cannot."""
    return len(name) <= NAME_LENGTH and _is_subdomain(name) is not None


def qualified_name(name: str) -> str:
    """Return a name as it is if it is a qualified one, such as ``evc`` or ``example.com/evc``, or make it one."""
    if _is_qualified(name):
        return name
    return _other.sub("-", name)[:CONTROLLER_LENGTH].strip("-_.") or "controller"


def reporting_instance(controller: str, host: str) -> str:
    """Return a name for the instance of a controller that runs on a host."""
    return truncate(f"{controller}-{host}", INSTANCE_LENGTH)


def truncate(text: str, limit: int) -> str:
    """Cut a text to so many bytes, which is what the server counts; an ellipsis says so."""
    encoded = text.encode(errors="replace")  # half of a surrogate pair, as of a file name, is no text elsewhere
    if len(encoded) <= limit:
        return encoded.decode()
    return encoded[: limit - len("…".encode())].decode(errors="ignore") + "…"
