"""Events of the core group and of events.k8s.io: two forms of the same stored objects.

An event with an `eventTime` follows the newer rules in either group. The group events.k8s.io requires one, and allows
only the series to change afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from pyctrl._go.durations import age
from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError, invalid_value, required
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.strategy import Object, SelectableField, Strategy, fields_at
from pyctrl.apiserver._registry.table_cells import Cells
from pyctrl.apiserver._resources.deletion_strategy import GarbageCollectionPolicy

__all__ = ["RESOURCES"]

_NOTE_BYTES = 1024
_WORD_BYTES = 128  # of reason, action and reporting instance
#: Fields that events.k8s.io does not allow, with their names in errors.
_DEPRECATED = {
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
    "deprecatedSource": "source",
}
#: Fields that events.k8s.io does not allow to change, in the order of its errors; as upstream, the reason is twice.
_TEXTS = ("reason", "message", "type", "action", "reportingController", "reportingInstance")
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
#: Fields of Go structs, in their order.
_REFERENCE = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
_PARTS = {"involvedObject": _REFERENCE, "related": _REFERENCE, "source": ("component", "host")}
_GO_NAMES = {"uid": "UID", "apiVersion": "APIVersion"}


def _validate_event(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check an event: its namespace is that of its object; with an `eventTime`, it names reporter and action."""
    is_new_style = new["apiVersion"] != "v1"
    yield from _validate_namespace(new, new["regarding" if is_new_style else "involvedObject"])
    if new.get("eventTime") is not None:
        yield from _validate_reporter(new, "reportingController" if is_new_style else "reportingComponent")
        if len(new.get("note" if is_new_style else "message", "").encode()) > _NOTE_BYTES:
            yield invalid_value("message", "", f"can have at most {_NOTE_BYTES} characters")
    if is_new_style:
        yield from _validate_new(new) if old is None else _validate_change(new, old)


def _validate_namespace(new: Object, involved: Object) -> Iterator[FieldError]:
    namespace, of_object = new["metadata"].get("namespace", ""), involved.get("namespace", "")
    if new.get("eventTime") is None:
        agrees = namespace == of_object or (not of_object and namespace == "default")
    else:
        agrees = bool(of_object) or namespace in ("default", "kube-system")
    if not agrees:
        yield invalid_value("involvedObject.namespace", of_object, "does not match event.namespace")


def _validate_reporter(new: Object, controller: str) -> Iterator[FieldError]:
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


def _validate_new(new: Object) -> Iterator[FieldError]:
    yield from _validate_series(new)
    if new.get("eventTime") is None:
        yield required("eventTime")
    if new.get("type") not in ("Normal", "Warning"):
        yield invalid_value("type", "", f"has invalid value: {new.get('type', '')}")
    for key, name in _DEPRECATED.items():
        value = new.get(key)
        if any(value.values()) if isinstance(value, dict) else value:
            yield invalid_value(name, "", "needs to be unset")


def _validate_series(new: Object) -> Iterator[FieldError]:
    series = new.get("series")
    if series is not None:
        if series.get("count", 0) < 2:
            yield invalid_value("series.count", "", "should be at least 2")
        if series.get("lastObservedTime") is None:
            yield required("series.lastObservedTime")


def _validate_change(new: Object, old: Object) -> Iterator[FieldError]:
    if new.get("series") != old.get("series"):
        yield from _validate_series(new)
    for key, name in _IMMUTABLE:
        if (new.get(key) or None) != (old.get(key) or None):
            yield invalid_value(name, _go_value(name, new.get(key)), "field is immutable")


def _go_value(name: str, value: object) -> object:
    """Return a value as Go prints it: a struct with all its fields, by their Go names."""
    if isinstance(value, dict) and name in _PARTS:
        return {_GO_NAMES.get(part, part[0].upper() + part[1:]): value.get(part, "") for part in _PARTS[name]}
    if value is None and name == "count":
        return 0
    return "" if value is None and name in _TEXTS else value


# -- conversion ------------------------------------------------------------------------------------------------


_EVENT_FIELDS = {  # name in the core group -> name in events.k8s.io
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
_CORE_FIELDS = {new: old for old, new in _EVENT_FIELDS.items()}


def _renamed(fields: Mapping[str, str]) -> Callable[[Object], Object]:
    return lambda obj: {fields.get(key, key): value for key, value in obj.items() if value not in ("", None)}


# -- table, declaration ----------------------------------------------------------------------------------------


def _target(involved: Object) -> str:
    kind = str(involved.get("kind", "")).lower()
    return f"{kind}/{involved['name']}" if involved.get("name") else kind


def _event_cells(obj: Object) -> Cells:
    involved = obj.get("involvedObject") or obj.get("regarding") or {}
    source = obj.get("source") or obj.get("deprecatedSource") or {}
    first = obj.get("firstTimestamp") or obj.get("deprecatedFirstTimestamp") or obj.get("eventTime")
    series = obj.get("series")
    last = obj.get("lastTimestamp") or obj.get("deprecatedLastTimestamp") or first
    if series is not None:
        last = series.get("lastObservedTime")
    component = source.get("component") or obj.get("reportingComponent") or obj.get("reportingController") or ""
    instance = source.get("host") or obj.get("reportingInstance")
    return {
        "Last Seen": age(last),
        "Type": obj.get("type", ""),
        "Reason": obj.get("reason", ""),
        "Object": _target(involved),
        "Subobject": involved.get("fieldPath", ""),
        "Source": f"{component}, {instance}" if instance else component,
        "Message": str(obj.get("message") or obj.get("note") or "").strip(),
        "First Seen": age(first),
        "Count": obj.get("count") or obj.get("deprecatedCount") or 1 if series is None else series.get("count", 0),
    }


_CORE_EVENT: Final = Strategy(
    on_create=None,
    on_update=(),
    allows_create_on_update=True,
    garbage_collection=GarbageCollectionPolicy.UNSUPPORTED,
    fields={
        **fields_at(*(f"involvedObject.{each}" for each in _REFERENCE), "reason", "reportingComponent", "type"),
        "source": SelectableField(("source.component", "reportingComponent")),
    },
    validates=(_validate_event,),
)
_EVENT: Final = Strategy(
    allows_create_on_update=True,
    garbage_collection=GarbageCollectionPolicy.UNSUPPORTED,
    fields=fields_at(*(f"regarding.{each}" for each in _REFERENCE), "reason", "reportingController", "type"),
    validates=(_validate_event,),
)


RESOURCES: Final = (
    BuiltinResource(
        group="",
        kind="Event",
        strategy=_CORE_EVENT,
        cells=_event_cells,
        conversions={"v1": _renamed(_CORE_FIELDS)},
    ),
    BuiltinResource(
        group="events.k8s.io",
        kind="Event",
        strategy=_EVENT,
        cells=_event_cells,
        conversions={"events.k8s.io/v1": _renamed(_EVENT_FIELDS)},
        storage_group="",
    ),
)
