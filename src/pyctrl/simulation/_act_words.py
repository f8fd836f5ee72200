"""Writes and calls in words: what was done to which object, and what it changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pyctrl.simulation._evidence import Act, Evidence, without_uuids
from pyctrl.simulation._history import Called, Sent
from pyctrl.simulation._leaves import leaves

__all__ = ["act_noun", "act_text", "changed_fields", "cut", "error_text", "is_deleting", "is_read"]

LONGEST = 100  # columns of an error or a call
VALUE = 24  # columns of a value
FIELDS = 2  # that a write changed

_VERBS = {
    "create": "creates",
    "update": "updates",
    "patch": "patches",
    "apply": "applies",
    "delete": "deletes",
    "deletecollection": "deletes all",
}


def act_noun(evidence: Evidence, entry: Act) -> str:
    """Return a write or a call as a noun: ``create Job default/web``."""
    if isinstance(entry, Called):
        return cut(without_uuids(entry.call))
    return f"{entry.verb} {_object(evidence, entry)}"


def act_text(evidence: Evidence, entry: Act) -> str:
    """Return what a write or a call did: ``patches Job default/web: spec.size 1 → 2 (v12)``."""
    if isinstance(entry, Called):
        failed = f", which raises {error_text(entry.error)}" if entry.error else ""
        return f"calls {cut(without_uuids(entry.call))}{failed}"
    text = f"{_VERBS.get(entry.verb, entry.verb)} {_object(evidence, entry)}"
    if entry.is_dry_run:
        return f"{text} (dry run)"
    if entry.status >= 400:
        return f"{text}: {entry.status} {entry.reason}"
    fields = ", ".join(changed_fields(evidence, entry))
    version = _version(entry.answer)
    text = text + (f": {fields}" if fields else "") + (f" (v{version})" if version else "")
    return text if entry.status else f"{text}, without an answer"


_READS = ("get", "list", "find", "read", "exists", "describe", "head", "status", "count", "has", "is_")


def is_read(entry: Act) -> bool:
    """Return whether a call only reads, by its name. Writes do not."""
    return isinstance(entry, Called) and entry.point.what.rpartition(".")[2].startswith(_READS)


_DELETES = (
    *("delete", "remove", "destroy", "release", "drop", "terminate", "deprovision", "revoke", "erase", "clean"),
    *("purge", "uninstall", "unregister", "detach", "free", "cancel", "stop", "wipe"),
)


def is_deleting(entry: Act) -> bool:
    """Return whether a write or a call deletes, by its name."""
    if isinstance(entry, Called):
        return entry.point.what.rpartition(".")[2].lower().startswith(_DELETES)
    return entry.verb.startswith("delete")


def _object(evidence: Evidence, entry: Sent) -> str:
    part = f"{entry.subresource} of " if entry.subresource else ""
    return f"{part}{evidence.name(evidence.target(entry))}"


def changed_fields(evidence: Evidence, entry: Act) -> Iterator[str]:
    """Yield the first fields that a write changed, with the old and the new value."""
    found = evidence.effect(entry)
    if found is None:
        return
    before, after = (dict(leaves(obj)) for obj in found)
    paths = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
    for path in paths[:FIELDS]:
        yield f"{path.removeprefix('.')} {_value(before.get(path))} → {_value(after.get(path))}"
    if len(paths) > FIELDS:
        yield "…"


def _value(value: Any) -> str:
    return "nothing" if value is None else cut(without_uuids(str(value)), VALUE) or "''"


def _version(answer: Any) -> str:
    metadata = answer.get("metadata") if isinstance(answer, Mapping) else None
    return str(metadata.get("resourceVersion", "")) if isinstance(metadata, Mapping) else ""


def error_text(error: str) -> str:
    """Return the first line of an error, without the request that the client adds."""
    first = without_uuids(error.strip().partition("\n")[0])
    head, found, tail = first.rpartition(" (")
    is_request = found and tail.startswith(("GET ", "POST ", "PUT ", "PATCH ", "DELETE "))
    return cut(head if is_request else first)


def cut(text: str, most: int = LONGEST) -> str:
    """Return a text that is not longer than so many columns."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
