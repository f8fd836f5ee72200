"""Details of one object: its last reconcile, error, detections, Events, YAML, owned objects, pods and reads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pyctrl import _clock
from pyctrl.api import GroupVersionKind, Key, Unstructured
from pyctrl.controller import Controller, Request
from pyctrl.dev._durations import ago
from pyctrl.dev._journal import Detection, LastRun
from pyctrl.dev._pod_details import PodDetails, take_pod_details
from pyctrl.dev._reads import ReadRow, object_id, readers_of, reads_of
from pyctrl.dev._requirements import controllers_of
from pyctrl.dev._session import DevSession
from pyctrl.dev._view import cause_text, conditions_text, result_text
from pyctrl.errors import PyctrlError

__all__ = ["EventRow", "ObjectDetails", "OwnedObject", "owned_objects", "take_details"]

#: Never owned, and the server logs a warning for each read.
DEPRECATED = (GroupVersionKind("", "v1", "Endpoints"), GroupVersionKind("", "v1", "ComponentStatus"))
MOST_DEPTH = 8  # levels of owners

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRow:
    """An Event about the object, or about one that it owns."""

    last: str
    type: str
    reason: str
    object: str
    message: str
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedObject:
    """An object that another owns, and what it owns itself.

    ``state`` is its phase and its conditions. ``readers`` are the objects whose last reconcile has read it.
    """

    uid: str
    kind: str
    name: str
    state: str
    owned: tuple[OwnedObject, ...]
    readers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectDetails:
    """An object. Without ``yaml`` it does not exist (any more).

    ``reads`` is what its last reconcile has read of the kinds in ``reads``. ``readers`` are the objects whose last
    reconcile has read this one.
    """

    controller: str
    kind: str
    request: Request
    result: str
    last: str
    causes: tuple[str, ...]
    conditions: str
    run: LastRun | None
    detections: tuple[Detection, ...]
    events: tuple[EventRow, ...]
    yaml: str
    owned: tuple[OwnedObject, ...]
    pods: tuple[PodDetails, ...] = ()
    reads: tuple[ReadRow, ...] = ()
    readers: tuple[str, ...] = ()


async def take_details(session: DevSession, controller: str, request: Request) -> ObjectDetails:
    """Return the details of an object that a controller reconciles."""
    requirements, journal = session.requirements, session.journal
    kind = requirements.kinds.get(controller) if requirements is not None else None
    obj = await _find(session, kind, request)
    run = journal.last(controller, request)
    everything = await _list_all(session) if obj else []
    running = controllers_of(session.manager) if session.manager is not None else []

    def readers(found: Object) -> tuple[str, ...]:
        return readers_of(running, *_kind_and_key(found))

    owned = owned_objects(_uid(obj), everything, readers) if obj else ()
    uids = {_uid(obj), *_uids(owned)} if obj else set()
    return ObjectDetails(
        controller=controller,
        kind=kind.kind if kind is not None else "",
        request=request,
        result=result_text(run, _due(running, controller, request)),
        last="" if run is None else ago(asyncio.get_running_loop().time() - run.at),
        causes=tuple(cause_text(cause) for cause in reversed(run.causes)) if run is not None else (),
        conditions=conditions_text(obj),
        run=run,
        detections=journal.detections_of(controller, request),
        events=_events(everything, uids, _clock.now()),
        yaml=_yaml(obj),
        owned=owned,
        pods=await take_pod_details(session, _pods(everything, uids)),
        reads=reads_of(running, controller, request, {*map(object_id, everything)}),
        readers=readers(obj) if obj else (),
    )


def _kind_and_key(obj: Object) -> tuple[GroupVersionKind, Key]:
    metadata = obj["metadata"]
    return GroupVersionKind.parse(obj["apiVersion"], obj["kind"]), Key(metadata.get("namespace", ""), metadata["name"])


def _due(running: Sequence[Controller], controller: str, request: Request) -> float | None:
    queues = [each.queue for each in running if each.name == controller]
    pending = queues[0].items(1000) if queues else []
    return next((item.due for item in pending if item.request == request), None)


async def _find(session: DevSession, kind: GroupVersionKind | None, request: Request) -> Object:
    if kind is None:
        return {}
    try:
        return (await session.admin.get(kind, request.key)).to_wire()
    except PyctrlError:  # deleted, or a webhook cannot convert it
        return {}


async def _list_all(session: DevSession) -> list[Object]:
    """Return all objects of the cluster, each in one version."""
    found: dict[str, Object] = {}
    resources = {(each.gvk.group, each.plural): each for each in reversed(await session.admin.discovery.mappings())}
    for each in resources.values():
        if "list" not in each.verbs or each.gvk in DEPRECATED:
            continue
        try:
            listed: Sequence[Unstructured] = await session.admin.list(each.gvk)
        except PyctrlError:  # removed meanwhile, or not readable: the others are shown
            continue
        found |= {_uid(wire): wire for wire in (obj.to_wire() for obj in listed)}
    return list(found.values())


def owned_objects(
    uid: str,
    objects: Sequence[Object],
    readers: Callable[[Object], tuple[str, ...]] = lambda _obj: (),
    *,
    depth: int = MOST_DEPTH,
) -> tuple[OwnedObject, ...]:
    """Return the objects that the object of a uid owns, with what these own, sorted by kind and name."""
    by_owner: dict[str, list[Object]] = {}
    for each in objects:
        for owner in each["metadata"].get("ownerReferences") or ():
            by_owner.setdefault(owner["uid"], []).append(each)
    return _owned(uid, by_owner, readers, depth)


def _owned(
    uid: str, by_owner: Mapping[str, Sequence[Object]], readers: Callable[[Object], tuple[str, ...]], depth: int
) -> tuple[OwnedObject, ...]:
    children = by_owner.get(uid, ()) if depth else ()
    return tuple(
        OwnedObject(
            uid=_uid(each),
            kind=each["kind"],
            name=each["metadata"]["name"],
            state=_state(each),
            owned=_owned(_uid(each), by_owner, readers, depth - 1),
            readers=readers(each),
        )
        for each in sorted(children, key=lambda each: (each["kind"], each["metadata"]["name"]))
    )


def _uids(owned: Sequence[OwnedObject]) -> Iterator[str]:
    for each in owned:
        yield each.uid
        yield from _uids(each.owned)


def _state(obj: Object) -> str:
    """Return the state of an object in a few words: its phase, its ready replicas, and its main conditions."""
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    deleting = "deleting" if obj["metadata"].get("deletionTimestamp") else ""
    replicas = f"{status.get('readyReplicas', 0)}/{spec['replicas']} ready" if "replicas" in spec else ""
    found = [each for each in status.get("conditions") or () if isinstance(each, dict)]
    main = [each for each in found if each.get("type") in ("Ready", "Available")] or found
    conditions = conditions_text({"status": {"conditions": main}})
    return ", ".join(filter(None, (deleting, str(status.get("phase") or ""), replicas, conditions)))


def _pods(objects: Sequence[Object], uids: set[str]) -> list[Object]:
    found = [each for each in objects if (each["apiVersion"], each["kind"]) == ("v1", "Pod") and _uid(each) in uids]
    return sorted(found, key=lambda each: str(each["metadata"]["name"]))


def _events(objects: Sequence[Object], uids: set[str], now: datetime) -> tuple[EventRow, ...]:
    """Return the Events about objects, the latest first."""
    found = [each for each in objects if each.get("kind") == "Event" and _about(each).get("uid") in uids]
    return tuple(_event(each, now) for each in sorted(found, key=_event_time, reverse=True))


def _event(event: Object, now: datetime) -> EventRow:
    series, about = event.get("series") or {}, _about(event)
    return EventRow(
        last=ago((now - _event_time(event)).total_seconds()),
        type=str(event.get("type", "")),
        reason=str(event.get("reason", "")),
        object=f"{about.get('kind', '')} {about.get('name', '')}",
        message=str(event.get("message") or event.get("note") or "").strip(),
        times=int(series.get("count") or event.get("count") or 1),
    )


def _about(event: Object) -> Object:
    about: Object = event.get("involvedObject") or event.get("regarding") or {}
    return about


def _event_time(event: Object) -> datetime:
    series = event.get("series") or {}
    times = (series.get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
    found = next(filter(None, times), None) or event["metadata"]["creationTimestamp"]
    return datetime.fromisoformat(found)


def _uid(obj: Object) -> str:
    return str(obj["metadata"].get("uid", ""))


def _yaml(obj: Object) -> str:
    """Return an object as YAML, without managedFields, as kubectl prints it."""
    import yaml  # here: the live view without details does not need it

    if not obj:
        return ""
    metadata = {key: value for key, value in obj["metadata"].items() if key != "managedFields"}
    first = {"apiVersion": obj["apiVersion"], "kind": obj["kind"]}  # as kubectl prints it
    text: str = yaml.safe_dump({**first, **obj, "metadata": metadata}, sort_keys=False, allow_unicode=True)
    return text
