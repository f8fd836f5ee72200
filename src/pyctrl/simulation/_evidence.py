"""Evidence of a failure: how a run differs from the reference, and where its faults hit. Stories and guesses use it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from pyctrl.simulation._history import (
    Called,
    Changed,
    Entry,
    FaultApplied,
    History,
    ObjectId,
    Reconciled,
    ReconcileStarted,
    Rested,
    RestPhase,
    Sent,
)
from pyctrl.simulation._run import ProblemKind, Run, RunProblem, State
from pyctrl.simulation._schedule import Fault, FaultKind, Occasion

__all__ = ["CRASHES", "OLD_VIEWS", "REFUSALS", "Act", "Evidence", "is_like", "object_of", "verb_of", "without_uuids"]

Json = Mapping[str, Any]
Act = Sent | Called

CRASHES = frozenset(
    {
        FaultKind.CRASH,
        FaultKind.CRASH_BEFORE,
        FaultKind.CRASH_DURING,
        FaultKind.CRASH_AFTER,
    }
)
#: A write or a call that has no effect, and whose failure the operator sees.
REFUSALS = frozenset(
    {
        FaultKind.CONFLICT,
        FaultKind.TOO_MANY_REQUESTS,
        FaultKind.INTERNAL_ERROR,
        FaultKind.TIMEOUT,
        FaultKind.CALL_FAILS,
    }
)

#: Faults after which the operator acts on an old view.
OLD_VIEWS = frozenset(
    {
        FaultKind.DELAY,
        FaultKind.COALESCE,
        FaultKind.HIDE,
        FaultKind.STALE,
        FaultKind.TIME_TRAVEL,
        FaultKind.TEAR,
        FaultKind.COMPACT,
        FaultKind.RESTORE_BACKUP,
    }
)


def verb_of(fault: Fault) -> str:
    """Return the verb of the write that a fault hits, or ""."""
    return fault.point.what.partition(" ")[0] if fault.point.occasion is Occasion.WRITE else ""


def object_of(fault: Fault) -> tuple[ObjectId, str] | None:
    """Return the object and the subresource that the point of a fault names; None if it names none.

    The name of the object may end with ``*``.
    """
    text = fault.argument if fault.point.occasion is Occasion.STEP else fault.point.what
    if fault.point.occasion is Occasion.WRITE:
        text = text.partition(" ")[2]
    if fault.point.occasion is Occasion.EVENT:
        text = text.rpartition(" ")[0]
    resource, _, rest = text.partition(" ")
    resource, _, subresource = resource.partition("/")
    try:
        return ObjectId.parse(f"{resource} {rest}"), subresource
    except ValueError:
        return None


class Evidence:
    """A failed run beside its reference.

    Attributes:
        reference: The run without faults; until the step after which the difference shows, if that is not the end, or
            after which the other run was cut short.
        run: The run with faults, also until then.
        problems: What the oracle found.
    """

    def __init__(self, reference: Run, run: Run, problems: Sequence[RunProblem]) -> None:
        step = _first_step(problems)
        self.reference = _until_step(reference, step or run.cut_after or None)
        self.run = _until_step(run, step)
        self.problems = problems

    def problems_of(self, *kinds: str) -> list[RunProblem]:
        """Return the problems of some kinds."""
        return [problem for problem in self.problems if problem.kind in kinds]

    # Faults

    @cached_property
    def faults(self) -> tuple[FaultApplied, ...]:
        """The faults that took place, in order."""
        return tuple(self.run.history.of(FaultApplied))

    @property
    def began(self) -> float:
        """Seconds at which the first fault took place; 0.0 without any."""
        return self.faults[0].at if self.faults else 0.0

    def faults_of(self, *kinds: FaultKind) -> list[Fault]:
        """Return the faults of some kinds that took place."""
        return [entry.fault for entry in self.faults if entry.fault.kind in kinds]

    def hit(self, fault: Fault) -> Act | None:
        """Return the write or the call that a fault hit; None if it was not sent."""
        return next((entry for entry in self.acts(self.run.history) if entry.point == fault.point), None)

    def planned(self, fault: Fault) -> Act | None:
        """Return the write or the call of the reference at the point of a fault."""
        return next((entry for entry in self.acts(self.reference.history) if entry.point == fault.point), None)

    @staticmethod
    def acts(history: History) -> list[Act]:
        """Return the operator's writes and calls, in order."""
        return [e for e in history if (isinstance(e, Sent) and e.point is not None) or isinstance(e, Called)]

    def later(self, entries: Iterable[Entry]) -> list[Any]:
        """Return the entries from the first fault on."""
        return [entry for entry in entries if entry.at >= self.began]

    # Writes and calls

    @cached_property
    def writes(self) -> list[Sent]:
        """The operator's writes, except dry runs."""
        return _writes(self.run.history)

    @cached_property
    def extra(self) -> list[Sent]:
        """The effective writes that the operator sent more often than in the reference; the last ones of each."""
        return _surplus(_effective(self.run.history), _effective(self.reference.history))

    @cached_property
    def lost(self) -> list[Sent]:
        """The effective writes of the reference that the operator sent less often; the last ones of each."""
        return _surplus(_effective(self.reference.history), _effective(self.run.history))

    @cached_property
    def never(self) -> list[Sent]:
        """The effective writes of the reference that never had an effect from the first fault on, or ever."""
        return [entry for entry in self.lost if not self.was_sent_later(entry)]

    def was_sent_later(self, entry: Sent) -> bool:
        """Return whether the operator tried a write, or had made it, at or after the first fault."""
        return any(each.at >= self.began and _key(each) == _key(entry) for each in _effective(self.run.history))

    @cached_property
    def extra_calls(self) -> list[Called]:
        """The calls with an effect that the operator made more often than in the reference."""
        return _surplus(_calls(self.run.history), _calls(self.reference.history))

    @cached_property
    def lost_calls(self) -> list[Called]:
        """The calls with an effect of the reference that the operator made less often."""
        return _surplus(_calls(self.reference.history), _calls(self.run.history))

    @property
    def unmade(self) -> list[Act]:
        """The effective writes and calls of the reference that the operator did not make from the first fault on."""
        return [*self.never, *(entry for entry in self.lost_calls if not self._was_called_later(entry))]

    def _was_called_later(self, call: Called) -> bool:
        return any(
            each.effects and each.at >= self.began and _key(each) == _key(call) for each in self.run.history.of(Called)
        )

    # Objects

    @cached_property
    def added(self) -> list[ObjectId]:
        """The objects at the end that the reference does not have."""
        return _beyond(self.run.end, self.reference.end)

    @cached_property
    def missing(self) -> list[ObjectId]:
        """The objects at the end of the reference that the run does not have."""
        return _beyond(self.reference.end, self.run.end)

    @cached_property
    def concerned(self) -> frozenset[ObjectId]:
        """The objects that the problems name."""
        return frozenset(each for problem in self.problems for each in problem.objects)

    @property
    def externals_differ(self) -> bool:
        """Whether an external system is in another state than in the reference."""
        return dict(self.run.end.externals) != dict(self.reference.end.externals)

    @cached_property
    def _kinds(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for run in (self.reference, self.run):
            for state in (run.initial, *run.steps, run.end):
                found |= {each.resource: obj["kind"] for each, obj in state.objects.items() if obj.get("kind")}
            for entry in run.history.of(Changed):
                if isinstance(entry.obj, Mapping) and entry.obj.get("kind"):
                    found[entry.target.resource] = entry.obj["kind"]
            for sent in run.history.of(Sent):
                if isinstance(sent.answer, Mapping) and sent.answer.get("kind", "Status") != "Status":
                    found.setdefault(sent.target.resource, sent.answer["kind"])
        return found

    def kind(self, target: ObjectId) -> str:
        """Return the kind of an object, such as Job; its resource if the kind never appears."""
        return self._kinds.get(target.resource, target.resource)

    def target(self, entry: Sent) -> ObjectId:
        """Return the object of a write; its name also if the server generated it and the answer was lost."""
        if entry.target.name or entry.point is None:
            return entry.target
        made = [
            change.target
            for change in self._until(entry)
            if change.type == "ADDED" and (change.by, change.target.resource) == (entry.process, entry.target.resource)
        ]
        if entry.has_effect and made:
            return made[-1]
        return ObjectId(entry.target.resource, entry.target.namespace, entry.point.what.rpartition("/")[2])

    def effect(self, entry: Act) -> tuple[Json, Json] | None:
        """Return the object before and after a write that changed it; None if it was not changed, or was not there."""
        if not isinstance(entry, Sent) or not entry.has_effect:
            return None
        target, version = self.target(entry), _version(entry.answer)
        changes = [change for change in self._until(entry) if change.target == target]
        if version:
            changes = [change for change in changes if change.version <= version]
        if len(changes) < 2 or changes[-1].type != "MODIFIED" or changes[-1].uid != changes[-2].uid:
            return None
        return changes[-2].obj, changes[-1].obj

    def _until(self, entry: Entry) -> list[Changed]:
        """Return the changes of the storage before an entry of the run or the reference."""
        history, place = self._places[id(entry)]
        # a change comes before the answer; in handwritten histories, directly after it
        near = history.entries[place + 1 : place + 2]
        entries = (*history.entries[:place], *(each for each in near if each.at == entry.at))
        return [each for each in entries if isinstance(each, Changed)]

    @cached_property
    def _places(self) -> dict[int, tuple[History, int]]:
        """The history and the position of each entry."""
        histories = (self.reference.history, self.run.history)
        return {id(entry): (each, place) for each in histories for place, entry in enumerate(each)}

    def name(self, target: ObjectId) -> str:
        """Return an object as people call it, such as ``Job default/web``."""
        place = f"{target.namespace}/{target.name}" if target.namespace else target.name
        return f"{self.kind(target)} {place}"

    def named(self, text: str) -> str:
        """Return an object of a schedule, such as ``jobs default/web``, as people call it; other texts unchanged."""
        resource, _, rest = text.partition(" ")
        resource, _, subresource = resource.partition("/")
        try:
            name = self.name(self.actual(ObjectId.parse(f"{resource} {rest}")))
        except ValueError:
            return text
        return f"{subresource} of {name}" if subresource else name

    def actual(self, pattern: ObjectId) -> ObjectId:
        """Return the object of a schedule, which names generated objects ``PREFIX*``."""
        if not pattern.name.endswith("*"):
            return pattern
        made = (change.target for change in self.run.history.of(Changed) if change.type == "ADDED")
        return next((target for target in made if is_like(target, pattern)), pattern)

    # Reconciles

    @property
    def cut_off(self) -> list[Act]:
        """The operator's writes and calls in reconciles that were running when the first fault took place."""
        if not self.faults:
            return []
        running: dict[str, list[Act]] = {}
        for entry in self.run.history.entries[: self._places[id(self.faults[0])][1]]:
            if isinstance(entry, ReconcileStarted):
                running[f"{entry.controller} {entry.request}"] = []
            elif isinstance(entry, Reconciled):
                running.pop(f"{entry.controller} {entry.request}", None)
            elif isinstance(entry, Sent | Called) and entry.reconcile in running:
                running[entry.reconcile].append(entry)
        return [entry for entries in running.values() for entry in entries]

    def same_reconcile(self, first: Act, second: Act) -> bool:
        """Return whether two entries of one run were sent by the same execution of reconcile."""
        if not first.reconcile or (first.reconcile, first.process) != (second.reconcile, second.process):
            return False
        (history, low), (_, high) = sorted((self._places[id(first)], self._places[id(second)]), key=lambda it: it[1])
        return not any(
            isinstance(entry, ReconcileStarted) and f"{entry.controller} {entry.request}" == first.reconcile
            for entry in history.entries[low:high]
        )

    def is_before(self, first: Entry, second: Entry) -> bool:
        """Return whether an entry comes before another one of the same run."""
        return self._places[id(first)][1] < self._places[id(second)][1]

    def reconciles_later(self) -> list[Reconciled]:
        """Return the reconciles that ended after the first fault."""
        return self.later(self.run.history.of(Reconciled))


_STEP = re.compile(r"^at rest after step (\d+)")


def _first_step(problems: Sequence[RunProblem]) -> int | None:
    """Return the step of the scenario after which the world differs; None if it differs at the end."""
    for problem in problems:
        if problem.kind == ProblemKind.END_STATE:
            found = _STEP.match(problem.message)
            return int(found[1]) if found else None
    return None


def _until_step(run: Run, step: int | None) -> Run:
    """Return a run as if it had ended with a step."""
    if step is None or step > len(run.steps):
        return run
    ends = [
        place
        for place, entry in enumerate(run.history)
        if isinstance(entry, Rested) and entry.phase == RestPhase.STEP and entry.number == step
    ]
    if not ends:
        return run
    history = History()
    history.entries = run.history.entries[: ends[-1] + 1]
    return replace(run, history=history, end=run.steps[step - 1], quiet_from=history.entries[-1].at)


def _writes(history: History) -> list[Sent]:
    return [entry for entry in history.of(Sent) if entry.point is not None and not entry.is_dry_run]


def _effective(history: History) -> list[Sent]:
    return [entry for entry in _writes(history) if entry.has_effect]


def _calls(history: History) -> list[Called]:
    return [entry for entry in history.of(Called) for _ in range(entry.effects)]


_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def without_uuids(text: str) -> str:
    """Return a text with ``…`` in place of random ids."""
    return _UUID.sub("…", text)


def _version(answer: Any) -> int:
    metadata = answer.get("metadata") if isinstance(answer, Mapping) else None
    version = str(metadata.get("resourceVersion", "")) if isinstance(metadata, Mapping) else ""
    return int(version) if version.isdecimal() else 0


def _key(entry: Act) -> str:
    """Return what is equal for the same write in two runs: the point without its number, or the call without ids."""
    if isinstance(entry, Called):
        return without_uuids(entry.call)
    return entry.point.what if entry.point is not None else ""


def _surplus(some: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    """Return the entries that occur more often in the first history, the last of each."""
    left = Counter(map(_key, some))
    left.subtract(map(_key, others))
    found = []
    for entry in reversed(some):
        if left[_key(entry)] > 0:
            left[_key(entry)] -= 1
            found.append(entry)
    return found[::-1]


def _beyond(state: State, other: State) -> list[ObjectId]:
    """Return the objects of a state that another one does not have; of generated names, the newest ones."""
    left = Counter(masked(each, obj) for each, obj in state.objects.items())
    left.subtract(masked(each, obj) for each, obj in other.objects.items())
    found = []
    for each, obj in sorted(state.objects.items(), key=lambda item: _age(item[1]), reverse=True):
        if left[masked(each, obj)] > 0:
            left[masked(each, obj)] -= 1
            found.append(each)
    return found[::-1]


def is_like(target: ObjectId, pattern: ObjectId) -> bool:
    """Return whether an object has a name of a schedule, which may be ``PREFIX*``."""
    prefix = pattern.name.removesuffix("*")
    same = target.name.startswith(prefix) if pattern.name.endswith("*") else target.name == pattern.name
    return same and (target.resource, target.namespace) == (pattern.resource, pattern.namespace)


def masked(target: ObjectId, obj: Json) -> ObjectId:
    """Return the name of an object with ``*`` in place of what the server generated."""
    prefix = obj.get("metadata", {}).get("generateName", "")
    if not prefix or not target.name.startswith(prefix):
        return target
    return ObjectId(target.resource, target.namespace, f"{prefix}*")


def _age(obj: Json) -> tuple[str, int]:
    metadata = obj.get("metadata", {})
    version = str(metadata.get("resourceVersion", ""))
    return str(metadata.get("creationTimestamp", "")), int(version) if version.isdecimal() else 0
