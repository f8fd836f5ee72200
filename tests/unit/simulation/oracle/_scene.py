"""A handwritten world: what happens is written down call by call, and makes a `Run`."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

from pyctrl.simulation._history import (
    Called,
    Changed,
    Entry,
    FaultApplied,
    History,
    Logged,
    ObjectId,
    ProcessChanged,
    Reconciled,
    ReconcileStarted,
    Rested,
    RestPhase,
    Sent,
)
from pyctrl.simulation._run import Run, RunProblem, State
from pyctrl.simulation._schedule import Occasion, Point, Schedule

Json = dict[str, Any]
OPERATOR = "operator-1"
PARENT = "podsets.example.com default/web"
CHILD = "configmaps default/web"
LETTERS = "bcdfghjklmnpqrstvwxz2456789"


class Scene:
    """A world in which only what is written down happens. Its seed decides uids, versions, times and names.

    Args:
        seed: The seed.
        schedule: The faults, which apply at the begin.
    """

    def __init__(self, seed: int = 0, schedule: str = "") -> None:
        self._random = Random(seed)
        self._now, self._version = 1.0, 100 * (seed + 1)
        self._history = History()
        self._steps: list[State] = []
        self._schedule = Schedule.parse(schedule)
        self._quiet_from, self._over_at = 0.0, 0.0
        self.objects: dict[ObjectId, Json] = {}
        self.externals: dict[str, Json] = {}
        for fault in self._schedule:
            self.note(FaultApplied(process=OPERATOR, fault=fault))

    def note(self, entry: Entry, *, after: float = 0.1) -> None:
        """Add an entry, some seconds later."""
        self._now += after
        entry.at = round(self._now, 6)
        self._history.entries.append(entry)

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self._now += seconds

    def find(self, target: str) -> Json:
        """Return an object."""
        return self.objects[ObjectId.parse(target)]

    def create(self, target: str, obj: Json | None = None, *, owner: str = "", by: str = OPERATOR) -> ObjectId:
        """Create an object; a name that ends with ``*`` is generated."""
        object_id = ObjectId.parse(target)
        metadata: Json = copy.deepcopy((obj or {}).get("metadata", {}))
        if object_id.name.endswith("*"):
            prefix = object_id.name[:-1]
            object_id = ObjectId(object_id.resource, object_id.namespace, prefix + self._suffix())
            metadata["generateName"] = prefix
        if owner:
            metadata["ownerReferences"] = [self._reference(ObjectId.parse(owner))]
        stamp = f"2026-01-01T00:{self._random.randrange(60):02}:{self._random.randrange(60):02}Z"
        metadata |= {"name": object_id.name, "namespace": object_id.namespace, "uid": self._uid(), "generation": 1}
        metadata |= {"creationTimestamp": stamp, "managedFields": [{"manager": "pyctrl", "time": stamp}]}
        stored = {"apiVersion": "v1", "kind": "Thing", **copy.deepcopy(obj or {}), "metadata": metadata}
        self._store("ADDED", object_id, stored, by)
        self._sent("create", object_id, by)
        return object_id

    def _suffix(self) -> str:
        return "".join(self._random.choice(LETTERS) for _ in range(5))

    def _uid(self) -> str:
        digits = f"{self._random.getrandbits(128):032x}"
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

    def _reference(self, owner: ObjectId) -> Json:
        uid = self.objects[owner]["metadata"]["uid"]
        return {"apiVersion": "v1", "kind": "Thing", "name": owner.name, "uid": uid, "controller": True}

    def _store(self, type_: str, object_id: ObjectId, obj: Json, by: str) -> None:
        self._version += 1 + self._random.randrange(3)
        obj["metadata"]["resourceVersion"] = str(self._version)
        self.objects[object_id] = obj
        uid = obj["metadata"]["uid"]
        self.note(Changed(type=type_, target=object_id, uid=uid, version=self._version, by=by, obj=obj))

    def _sent(self, verb: str, object_id: ObjectId, by: str, **fields: Any) -> None:
        if by:
            self.note(Sent(process=by, verb=verb, target=object_id, has_effect=True, status=200, **fields))

    def change(self, target: str | ObjectId, change: Json, *, by: str = OPERATOR, **fields: Any) -> None:
        """Change fields of an object; None removes one."""
        object_id = ObjectId.parse(target) if isinstance(target, str) else target
        changed = _merged(self.objects[object_id], change)
        if "spec" in change:
            changed["metadata"]["generation"] += 1
        self._store("MODIFIED", object_id, changed, by)
        self._sent("update", object_id, by, **fields)

    def delete(self, target: str | ObjectId, *, by: str = OPERATOR) -> None:
        """Delete an object at once."""
        object_id = ObjectId.parse(target) if isinstance(target, str) else target
        self._store("DELETED", object_id, copy.deepcopy(self.objects[object_id]), by)
        del self.objects[object_id]
        self._sent("delete", object_id, by)

    def restore(self, object_id: ObjectId, obj: Json) -> None:
        """Bring an object back from a backup."""
        self._store("ADDED", object_id, copy.deepcopy(obj), "user")

    def begin_deletion(self, target: str, *, by: str = "user") -> None:
        """Delete an object that has finalizers."""
        self.change(target, {"metadata": {"deletionTimestamp": "2026-01-01T00:30:00Z"}}, by=by)

    def release(self, target: str, finalizers: list[str], *, by: str = OPERATOR) -> None:
        """Remove finalizers of an object that is being deleted; with the last one it goes."""
        object_id = ObjectId.parse(target)
        if finalizers:
            self.change(object_id, {"metadata": {"finalizers": finalizers}}, by=by)
        else:
            last = _merged(self.objects[object_id], {"metadata": {"finalizers": None}})
            self._store("DELETED", object_id, last, by)
            del self.objects[object_id]

    def call(self, call: str, *, effects: int = 1, request: str = "default/web") -> None:
        """Call an external system in a reconcile."""
        point = Point(Occasion.CALL, call.partition("(")[0])
        entry = Called(process=OPERATOR, point=point, call=call, effects=effects, reconcile=f"podset {request}")
        self.note(entry)

    def reconcile(self, request: str = "default/web", *, error: str = "", result: str = "done") -> None:
        """Run one reconcile."""
        controller = "podset"
        point = Point(Occasion.RECONCILE, f"{controller} {request}")
        self.note(ReconcileStarted(process=OPERATOR, point=point, controller=controller, request=request))
        self.note(Reconciled(process=OPERATOR, controller=controller, request=request, error=error, result=result))

    def log(self, error: str) -> None:
        """Log an error with a traceback."""
        self.note(Logged(process=OPERATOR, level="ERROR", logger="pyctrl", message="Reconciler error", error=error))

    def process(self, state: str, text: str = "", *, name: str = OPERATOR) -> None:
        """Change the state of a replica."""
        self.note(ProcessChanged(process=name, state=state, text=text))

    def state(self) -> State:
        """Return the world as it is."""
        return State(copy.deepcopy(self.objects), copy.deepcopy(self.externals))

    def step(self, *, is_quiet: bool = True, wait: float = 5.0) -> None:
        """End a step at rest."""
        self._steps.append(self.state())
        self.note(Rested(phase=RestPhase.STEP, number=len(self._steps), is_quiet=is_quiet), after=wait)

    def faults_over(self) -> None:
        """End the faults."""
        self._over_at = self._now

    def quiet(self, *, is_quiet: bool = True) -> None:
        """Begin the time of quiet, after a last rest."""
        self._steps.append(self.state())
        self.note(Rested(phase=RestPhase.FAULTS_OVER, number=len(self._steps), is_quiet=is_quiet), after=5.0)
        self._quiet_from = self._now + 0.01

    def run(self, **attributes: Any) -> Run:
        """End the run after a minute of quiet."""
        if not self._quiet_from:
            self.quiet()
        left = self._quiet_from + 60 - self._now
        self.note(Rested(phase=RestPhase.END, number=len(self._steps)), after=max(left, 0.0))
        return Run(
            schedule=self._schedule,
            history=self._history,
            initial=State({}),
            steps=self._steps,
            end=self.state(),
            faults_over_at=self._over_at,
            quiet_from=self._quiet_from,
            **attributes,
        )


def _merged(old: Json, change: Json) -> Json:
    """Return an object with a merge patch."""
    new = copy.deepcopy(old)
    for key, value in change.items():
        if value is None:
            new.pop(key, None)
        elif isinstance(value, dict) and isinstance(new.get(key), dict):
            new[key] = _merged(new[key], value)
        else:
            new[key] = copy.deepcopy(value)
    return new


def create(world: Scene) -> None:
    """Let the user create a parent, and the operator a child with a fixed name and one with a generated name."""
    world.process("started")
    world.create(PARENT, {"spec": {"size": 1}}, by="user")
    world.reconcile()
    world.create(CHILD, {"data": {"size": "1", "mode": "fast", "zone": "a"}}, owner=PARENT)
    world.create("jobs.batch default/web-*", {"spec": {"size": 1}}, owner=PARENT)
    world.change(PARENT, {"status": {"ready": True, "observedGeneration": 1}})
    world.step()


def plain(seed: int) -> Run:
    """Return a run of an operator that makes two children."""
    world = Scene(seed)
    create(world)
    return world.run()


def only(problems: list[RunProblem], kind: str) -> RunProblem:
    """Return the only problem, which has a kind."""
    assert [each.kind for each in problems] == [kind], problems
    return problems[0]
