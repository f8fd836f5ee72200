"""Events of both groups: what is refused."""

from __future__ import annotations

from collections.abc import Iterator

from . import _names as names
from ._answers import Cause, invalid_value, required
from ._builtins_strategy import Object

_TEXT_LIMIT = 1024  # of the message
_NAME_LIMIT = 128  # of reason, action and reporting instance


def validate_event(new: Object, old: Object | None) -> Iterator[Cause]:
    """Check an event: it stands in the namespace of its object, and a new-style one says who did what, and when."""
    if old is not None:
        return
    is_new_style = new["apiVersion"] != "v1"
    involved = new["regarding" if is_new_style else "involvedObject"]
    namespace, of_object = new["metadata"].get("namespace", ""), involved.get("namespace", "")
    if namespace != of_object and not (not of_object and namespace == "default"):
        yield invalid_value("involvedObject.namespace", of_object, "does not match event.namespace")
    if new.get("eventTime") is not None:
        yield from _reported(new, "reportingController" if is_new_style else "reportingComponent")
    elif is_new_style:
        yield required("eventTime")
    if len(new.get("note" if is_new_style else "message", "")) > _TEXT_LIMIT:
        yield invalid_value("message", "", f"can have at most {_TEXT_LIMIT} characters")
    if is_new_style and new.get("type") not in ("Normal", "Warning"):
        yield invalid_value("type", "", f"has invalid value: {new.get('type', '')}")


def _reported(new: Object, controller: str) -> Iterator[Cause]:
    name = new.get(controller, "")
    if not name:
        yield required("reportingController")
    for why in names.qualified_name(name) if name else ():
        yield invalid_value("reportingController", name, why)
    for key in ("reportingInstance", "action", "reason"):
        text = new.get(key, "")
        if not text:
            yield required(key)
        elif len(text) > _NAME_LIMIT:
            yield invalid_value(key, "", f"can have at most {_NAME_LIMIT} characters")
