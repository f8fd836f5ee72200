"""Events of both groups: what is refused.

Whoever gives an ``eventTime`` follows the newer rules, in either group; the group events.k8s.io insists on one, and
lets nothing but the series change afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError, invalid_value, required
from pyctrl.apiserver._registry.strategy import Object

_NOTE_BYTES = 1024
_WORD_BYTES = 128  # of reason, action and reporting instance

#: What the group events.k8s.io does not let be set, with the names that errors have for it.
_DEPRECATED = {
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
    "deprecatedSource": "source",
}
#: What it does not let be changed, in the order of its complaints: that of the reason comes twice.
_IMMUTABLE = (
    ("regarding", "involvedObject"),
    ("reason", "reason"),
    ("note", "message"),
    ("deprecatedSource", "source"),
    ("deprecatedFirstTimestamp", "firstTimestamp"),
    ("deprecatedLastTimestamp", "lastTimestamp"),
    ("deprecatedCount", "count"),
    ("reason", "reason"),
    ("type", "type"),
    ("eventTime", "eventTime"),
    ("action", "action"),
    ("related", "related"),
    ("reportingController", "reportingController"),
    ("reportingInstance", "reportingInstance"),
)
#: Fields as Go names them, in its order.
_REFERENCE = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
_PARTS = {"involvedObject": _REFERENCE, "related": _REFERENCE, "source": ("component", "host")}
_GO_NAMES = {"uid": "UID", "apiVersion": "APIVersion"}


def validate_event(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check an event: it stands in the namespace of its object, and a new-style one says who did what, and when."""
    is_new_style = new["apiVersion"] != "v1"
    yield from _agreement(new, new["regarding" if is_new_style else "involvedObject"])
    if new.get("eventTime") is not None:
        yield from _reported(new, "reportingController" if is_new_style else "reportingComponent")
        if len(new.get("note" if is_new_style else "message", "").encode()) > _NOTE_BYTES:
            yield invalid_value("message", "", f"can have at most {_NOTE_BYTES} characters")
    if is_new_style:
        yield from _strict(new) if old is None else _changed(new, old)


def _agreement(new: Object, involved: Object) -> Iterator[FieldError]:
    namespace, of_object = new["metadata"].get("namespace", ""), involved.get("namespace", "")
    if new.get("eventTime") is None:
        agrees = namespace == of_object or (not of_object and namespace == "default")
    else:
        agrees = bool(of_object) or namespace in ("default", "kube-system")
    if not agrees:
        yield invalid_value("involvedObject.namespace", of_object, "does not match event.namespace")


def _reported(new: Object, controller: str) -> Iterator[FieldError]:
    name = new.get(controller, "")
    if not name:
        yield required(controller)
    for why in names.qualified_name(name):
        yield invalid_value(controller, name, why)
    for key in ("reportingInstance", "action", "reason"):
        text = new.get(key, "")
        if not text:
            yield required(key)
        elif len(text.encode()) > _WORD_BYTES:
            yield invalid_value(key, "", f"can have at most {_WORD_BYTES} characters")


def _strict(new: Object) -> Iterator[FieldError]:
    yield from _series(new)
    if new.get("eventTime") is None:
        yield required("eventTime")
    if new.get("type") not in ("Normal", "Warning"):
        yield invalid_value("type", "", f"has invalid value: {new.get('type', '')}")
    for key, name in _DEPRECATED.items():
        value = new.get(key)
        if any(value.values()) if isinstance(value, dict) else value:
            yield invalid_value(name, "", "needs to be unset")


def _series(new: Object) -> Iterator[FieldError]:
    series = new.get("series")
    if series is not None:
        if series.get("count", 0) < 2:
            yield invalid_value("series.count", "", "should be at least 2")
        if series.get("lastObservedTime") is None:
            yield required("series.lastObservedTime")


def _changed(new: Object, old: Object) -> Iterator[FieldError]:
    if new.get("series") != old.get("series"):
        yield from _series(new)
    for key, name in _IMMUTABLE:
        if (new.get(key) or None) != (old.get(key) or None):
            yield invalid_value(name, _in_go(name, new.get(key)), "field is immutable")


def _in_go(name: str, value: object) -> object:
    """Return a value as Go prints it: a structure with all of its fields, by Go's names."""
    if isinstance(value, dict) and name in _PARTS:
        return {_GO_NAMES.get(part, part[0].upper() + part[1:]): value.get(part, "") for part in _PARTS[name]}
    return value
