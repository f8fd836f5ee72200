"""Handwritten runs: each line of a script is an entry of the history, a tenth of a second after the last one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Self

from pyctrl.simulation._evidence import Evidence
from pyctrl.simulation._history import (
    Called,
    Changed,
    Delivered,
    Entry,
    FaultApplied,
    History,
    ObjectId,
    ProcessChanged,
    Reconciled,
    ReconcileStarted,
    Sent,
)
from pyctrl.simulation._run import Run, RunProblem, State
from pyctrl.simulation._schedule import Fault, Occasion, Point, Schedule

KINDS = {"podsets": "PodSet", "jobs": "Job", "configmaps": "ConfigMap", "services": "Service"}
PARENT = "podsets default/web"
JOB = "jobs default/web"


class Script:
    """A run, as it is written down."""

    def __init__(self, schedule: str = "") -> None:
        self.schedule = Schedule.parse(schedule)
        self.history = History()
        self.objects: dict[ObjectId, dict[str, Any]] = {}
        self.externals: dict[str, Any] = {}
        self.quiet_from = 0.0
        self.foreign: dict[ObjectId, str] = {}
        self.process = "operator-1"
        self._now = 0.0
        self._version = 10
        self._counts: Counter[str] = Counter()
        self._faults = iter(self.schedule)
        self._request = ""

    def add(self, entry: Entry) -> Self:
        """Add an entry, a tenth of a second after the last one."""
        self._now += 0.1
        entry.at = round(self._now, 6)
        self.history.entries.append(entry)
        return self

    def wait(self, seconds: float) -> Self:
        """Let time pass."""
        self._now += seconds
        return self

    def quiet(self) -> Self:
        """Begin the time of quiet."""
        self.quiet_from = self._now
        return self

    def point(self, occasion: Occasion, what: str) -> Point:
        """Return the next point of this name."""
        self._counts[what] += 1
        return Point(occasion, what, self._counts[what])

    def user(self, verb: str, target: str, obj: Mapping[str, Any] | None = None) -> Self:
        """Add an effective request of the user."""
        sent = self._sent(verb, target, obj, point=None)
        sent.process = "user"
        return self._store(sent)

    def write(
        self,
        verb: str,
        target: str,
        obj: Mapping[str, Any] | None = None,
        *,
        generate: str = "",
        **fields: Any,
    ) -> Self:
        """Add a write of the operator; effective, unless it has an error status.

        Args:
            verb: The verb.
            target: ``RESOURCE[/SUBRESOURCE] NAMESPACE/NAME``.
            obj: What is sent.
            generate: The prefix of its name, if the server generated that.
            fields: Other fields of the entry.
        """
        named = f"{target.rpartition('/')[0]}/{generate}*" if generate else target
        point = self.point(Occasion.WRITE, f"{verb} {named}")
        if generate:
            obj = {**(obj or {}), "metadata": {**(obj or {}).get("metadata", {}), "generateName": generate}}
        sent = self._sent(verb, target, obj, point=point)
        sent.process, sent.reconcile, sent.line = self.process, self._request, "operator.py:42"
        for name, value in fields.items():
            setattr(sent, name, value)
        sent.has_effect = fields.get("has_effect", sent.status < 400)
        return self._store(sent)

    def call(self, text: str, *, effects: int = 1, error: str = "") -> Self:
        """Add a call of an external system."""
        point = self.point(Occasion.CALL, text.partition("(")[0])
        return self.add(
            Called(
                process=self.process,
                point=point,
                call=text,
                effects=effects,
                error=error,
                reconcile=self._request,
                line="operator.py:50",
            )
        )

    def begin(self, request: str = "default/web", controller: str = "podset") -> Self:
        """Begin a reconcile."""
        self._request = f"{controller} {request}"
        point = self.point(Occasion.RECONCILE, self._request)
        return self.add(ReconcileStarted(process=self.process, point=point, controller=controller, request=request))

    def done(self, error: str = "") -> Self:
        """End the reconcile."""
        controller, request = self._request.split(" ")
        self._request = ""
        result = f"error: {error}" if error else "done"
        return self.add(
            Reconciled(process=self.process, controller=controller, request=request, result=result, error=error)
        )

    def fault(self) -> Self:
        """Apply the next fault of the schedule."""
        return self.add(FaultApplied(fault=next(self._faults)))

    def restart(self) -> Self:
        """Start the process again."""
        self._request = ""
        return self.add(ProcessChanged(process=self.process, state="started"))

    def event(self, kind: str, target: str) -> Self:
        """Deliver an event."""
        point = self.point(Occasion.EVENT, f"{target} {kind}")
        return self.add(Delivered(process=self.process, point=point, type=kind, target=ObjectId.parse(target)))

    def cluster(self, kind: str, target: str, obj: Mapping[str, Any] | None = None, *, by: str = "") -> Self:
        """Add a change by the cluster's controllers."""
        named = ObjectId.parse(target)
        whole = self._whole(named, obj) if obj is not None else self.objects.get(named, {})
        if kind == "DELETED":
            self.objects.pop(named, None)
        else:
            self.objects[named] = whole
        return self._changed(kind, named, whole, by)

    def run(self, **fields: Any) -> Run:
        """Return the run."""
        return Run(
            schedule=self.schedule,
            history=self.history,
            initial=State({}),
            end=State(dict(self.objects), dict(self.externals)),
            quiet_from=self.quiet_from or self._now,
            foreign=self.foreign,
            **fields,
        )

    def _sent(self, verb: str, target: str, obj: Mapping[str, Any] | None, *, point: Point | None) -> Sent:
        resource, _, rest = target.partition(" ")
        resource, _, subresource = resource.partition("/")
        named = ObjectId.parse(f"{resource} {rest}")
        body = dict(obj) if obj is not None else None
        return Sent(
            point=point, verb=verb, target=named, subresource=subresource, status=200, body=body, has_effect=True
        )

    def _store(self, sent: Sent) -> Self:
        self.add(sent)
        if not sent.has_effect:
            return self
        if sent.verb == "delete":
            return self._changed("DELETED", sent.target, self.objects.pop(sent.target, {}), sent.process)
        kind = "MODIFIED" if sent.target in self.objects else "ADDED"
        whole = self._whole(sent.target, sent.body or {})
        if sent.subresource:
            whole = {**self.objects.get(sent.target, {}), **whole}
        self.objects[sent.target] = sent.answer = whole
        return self._changed(kind, sent.target, whole, sent.process)

    def _whole(self, target: ObjectId, obj: Mapping[str, Any]) -> dict[str, Any]:
        self._version += 1
        before = self.objects.get(target, {}).get("metadata", {})
        metadata = {"uid": before.get("uid", f"uid-{self._version}"), **obj.get("metadata", {})}
        metadata |= {"name": target.name, "resourceVersion": str(self._version)}
        return {"kind": KINDS.get(target.resource, target.resource), **obj, "metadata": metadata}

    def _changed(self, kind: str, target: ObjectId, obj: dict[str, Any], by: str) -> Self:
        uid = obj.get("metadata", {}).get("uid", "")
        changed = Changed(type=kind, target=target, uid=uid, version=self._version, by=by, obj=obj)
        changed.at = round(self._now, 6)
        self.history.entries.append(changed)
        return self


def owned(uid: str, name: str = "web") -> dict[str, Any]:
    """Return an object with an owner reference."""
    return {"metadata": {"ownerReferences": [{"kind": "PodSet", "name": name, "uid": uid, "controller": True}]}}


def problem(kind: str, *targets: str, message: str = "something is wrong") -> RunProblem:
    """Return a problem with some objects."""
    return RunProblem(kind, message, tuple(map(ObjectId.parse, targets)))


def evidence(reference: Script, script: Script, *problems: RunProblem, **fields: Any) -> Evidence:
    """Return the evidence of a failure."""
    return Evidence(reference.run(), script.run(**fields), problems)


def fault(text: str) -> Fault:
    """Return the fault of a text."""
    return Fault.parse(text)
