"""Store, feeds and overlay against a model: interleaved server history, lists, watches and own writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from pyctrl.api import Key, LabelSelector
from pyctrl.cache import Change, Created, Deleted, Synced, Updated
from pyctrl.cache._coverage import Coverage, ListQuery
from pyctrl.cache._lister import Lister
from pyctrl.cache._record import Record, RecordReader
from tests.unit.cache._kit import CONFIGMAP, Mirror, body

NAMES = st.sampled_from("abc")
LABELS = st.sampled_from(["x", "y", "z"])


@dataclass(frozen=True)
class Happened:
    """One entry of the server's history: an object's state, or its last one."""

    name: str
    uid: str
    label: str
    version: int
    is_deletion: bool = False

    @property
    def bytes(self) -> bytes:
        return body(self.name, self.version, uid=self.uid, labels={"l": self.label})


class World:
    """The server's data: every version of every object."""

    def __init__(self) -> None:
        self.history: list[Happened] = []

    @property
    def version(self) -> int:
        return len(self.history)

    def state(self, version: int, name: str) -> Happened | None:
        last = next((h for h in reversed(self.history[:version]) if h.name == name), None)
        return None if last is None or last.is_deletion else last

    def states(self, version: int) -> list[Happened]:
        return [state for name in "abc" if (state := self.state(version, name))]

    def write(self, name: str, label: str) -> Happened:
        before = self.state(self.version, name)
        uid = before.uid if before else f"uid-{self.version}"
        self.history.append(Happened(name, uid, label, self.version + 1))
        return self.history[-1]

    def delete(self, name: str) -> Happened | None:
        before = self.state(self.version, name)
        if before is None:
            return None
        self.history.append(Happened(name, before.uid, before.label, self.version + 1, is_deletion=True))
        return self.history[-1]


class Witness(Mirror):
    """A subscriber that checks that each object's reported states go forward in time."""

    def __init__(self, *, is_strict: bool) -> None:
        super().__init__()
        self.is_strict = is_strict  # with selectors, a slow feed may report what has left another
        self.latest: dict[str, int] = {}
        self.told: Counter[str] = Counter()
        self.look: Callable[[str], Record | None] = lambda _name: None

    def push(self, change: Change) -> None:
        super().push(change)
        if isinstance(change, Synced):
            return
        record = change.old if isinstance(change, Deleted) else change.new
        shown = self.look(record.name)
        assert isinstance(change, Deleted) or shown is None or shown.version >= record.version, "told before it is read"
        latest = self.latest.get(record.uid, 0)
        if isinstance(change, Updated) or (self.is_strict and not isinstance(change, Deleted)):
            assert record.version > latest, "an older state was told than before"
        self.latest[record.uid] = record.version
        self.told[record.name] += 1


class CacheMachine(RuleBasedStateMachine):
    """One kind with any coverages; steps of server, network and program in any order."""

    coverages: tuple[Coverage, ...] = (Coverage(),)

    def __init__(self) -> None:
        super().__init__()
        self.world, self.mirror = World(), Witness(is_strict=len(self.coverages) == 1)
        self.read = RecordReader()
        self.lister = Lister(CONFIGMAP, self.read)
        self.mirror.look = self._shown
        for coverage in self.coverages:
            self.lister.add_writer(coverage, [self.mirror])
        self.lister.add_index("label", lambda r: [r.labels["l"]])
        self.positions = [-1] * len(self.coverages)  # -1: not listed, or being listed again
        self.lists: dict[int, tuple[int, list[Happened]]] = {}  # in flight: version, remaining events
        self.late: list[Happened] = []  # answers in flight
        self.own: dict[str, Happened] = {}  # the newest answered own write of each name
        self.was_shown: dict[str, tuple[str, int]] = {}  # by name: a uid, and the number of changes reported by then

    # --- the server ---

    @rule(name=NAMES, label=LABELS)
    def somebody_writes(self, name: str, label: str) -> None:
        self.world.write(name, label)

    @rule(name=NAMES)
    def somebody_deletes(self, name: str) -> None:
        self.world.delete(name)

    # --- the program ---

    @rule(name=NAMES, label=LABELS, is_late=st.booleans())
    def program_writes(self, name: str, label: str, is_late: bool) -> None:
        self._answer(self.world.write(name, label), is_late)

    @rule(name=NAMES, is_late=st.booleans())
    def program_deletes(self, name: str, is_late: bool) -> None:
        if happened := self.world.delete(name):
            self._answer(happened, is_late)

    @precondition(lambda self: self.late)
    @rule(data=st.data())
    def late_answer_comes(self, data: st.DataObject) -> None:
        self._deliver(self.late.pop(data.draw(st.integers(0, len(self.late) - 1))))

    @precondition(lambda self: self.late)
    @rule()
    def answer_is_lost(self) -> None:
        self.late.pop()

    def _answer(self, happened: Happened, is_late: bool) -> None:
        if is_late:
            self.late.append(happened)
        else:
            self._deliver(happened)

    def _deliver(self, happened: Happened) -> None:
        key = Key("default", happened.name)
        if happened.is_deletion:
            if self.lister.overlay.last_version(key, happened.uid) == 0:
                return  # neither this process nor its informer has seen the object: no guarantee applies
            self.lister.deleted(key, b'{"kind":"Status","details":{"uid":"%s"}}' % happened.uid.encode())
        else:
            self.lister.wrote(happened.bytes)
        if happened.version > self._own_version(happened.name):
            self.own[happened.name] = happened

    def _own_version(self, name: str) -> int:
        return self.own[name].version if name in self.own else 0

    # --- the informer ---

    def _feeds(self) -> st.SearchStrategy[int]:
        return st.integers(0, len(self.coverages) - 1)

    @rule(data=st.data())
    def informer_begins_to_list(self, data: st.DataObject) -> None:
        """Start a list, possibly before the previous one has ended."""
        number = data.draw(self._feeds())
        writer, version = self.lister.writers[number], self.world.version
        writer.begin_list()
        items = [s for s in self.world.states(version) if writer.coverage.matches(self.read(s.bytes))]
        self.positions[number], self.lists[number] = -1, (version, items)

    @precondition(lambda self: self.lists)
    @rule(data=st.data(), count=st.integers(1, 4))
    def informer_takes_items(self, data: st.DataObject, count: int) -> None:
        """Deliver items of a list, interleaved with anything else, also on other feeds."""
        number = data.draw(st.sampled_from(sorted(self.lists)))
        writer, (version, items) = self.lister.writers[number], self.lists[number]
        for state in items[:count]:
            writer.put(self.read(state.bytes))
        if len(items) < count:
            writer.end_list(version)
            self.positions[number] = version
            del self.lists[number]
        else:
            self.lists[number] = version, items[count:]

    @rule(data=st.data(), count=st.integers(1, 4), has_bookmark=st.booleans(), is_repeated=st.booleans())
    def informer_watches(self, data: st.DataObject, count: int, has_bookmark: bool, is_repeated: bool) -> None:
        number = data.draw(self._feeds())
        start = self.positions[number]
        if start < 0:
            return
        end = min(start + count, self.world.version)
        for _ in range(1 + is_repeated):
            for version in range(start, end):
                self._event(number, self.world.history[version], version)
        if has_bookmark:
            self.lister.writers[number].advance_to(end)
        self.positions[number] = end

    def _event(self, number: int, happened: Happened, before: int) -> None:
        """Send an event as kube-apiserver does: leaving the selection is a deletion with the previous state."""
        writer, old = self.lister.writers[number], self.world.state(before, happened.name)
        was_in = old is not None and writer.coverage.matches(self.read(old.bytes))
        is_in = not happened.is_deletion and writer.coverage.matches(self.read(happened.bytes))
        if is_in:
            writer.put(self.read(happened.bytes))
        elif was_in and old is not None:
            writer.remove(self.read(Happened(old.name, old.uid, old.label, happened.version).bytes))
        if is_in or was_in:
            writer.advance_to(happened.version)

    # --- what must hold, always ---

    def _shown(self, name: str) -> Record | None:
        return self.lister.overlay.find(Key("default", name))

    @invariant()
    def subscribers_know_the_store(self) -> None:
        """The reported changes add up to the contents of the store."""
        assert self.mirror.versions == {(r.namespace, r.name): r.version for r in self.lister.store}

    @invariant()
    def what_vanishes_is_told(self) -> None:
        """The disappearance of a readable object is reported, because a reader may have acted on it."""
        for name in "abc":
            record, entry = self._shown(name), self.lister.overlay.entries.get(Key("default", name))
            uid, told = self.was_shown.get(name, ("", 0))
            if record is not None:
                if record.uid != uid:
                    self.was_shown[name] = record.uid, self.mirror.told[name]
            elif uid and entry is None:
                assert self.mirror.told[name] > told, "it could be read, is gone, and nobody was told"
                del self.was_shown[name]

    @invariant()
    def reads_agree(self) -> None:
        """Get, list, namespace and index show the same objects."""
        shown = {n: r.version for n in "abc" if (r := self._shown(n))}
        assert {r.name: r.version for r in self.lister.overlay.select()} == shown
        assert {r.name: r.version for r in self.lister.overlay.select("default")} == shown
        assert not list(self.lister.overlay.select("elsewhere"))
        by_index = {r.name: r.version for label in "xyz" for r in self.lister.overlay.select(None, ("label", label))}
        assert by_index == shown

    @invariant()
    def only_what_was_is_shown(self) -> None:
        """Every object shown existed on the server in this version and is covered."""
        for name in "abc":
            if record := self._shown(name):
                happened = self.world.history[record.version - 1]
                assert (happened.name, happened.uid, happened.is_deletion) == (name, record.uid, False)
                assert any(coverage.matches(record) for coverage in self.coverages)

    @invariant()
    def own_writes_are_seen(self) -> None:
        """No object is older than an answered own write."""
        for name, own in self.own.items():
            record = self._shown(name)
            if record is not None:
                assert record.version > own.version or (record.version == own.version and not own.is_deletion)
            elif not own.is_deletion and any(c.matches(self.read(own.bytes)) for c in self.coverages):
                later = [h for h in self.world.history[own.version :] if h.name == name]
                assert later, "an own write is not shown although nobody has changed the object since"

    def teardown(self) -> None:
        """After the informer has caught up, the view equals the server and the overlay is empty."""
        self.late.clear()
        for number, writer in enumerate(self.lister.writers):
            if self.positions[number] < 0:
                writer.begin_list()
                for state in self.world.states(self.world.version):
                    if writer.coverage.matches(self.read(state.bytes)):
                        writer.put(self.read(state.bytes))
                writer.end_list(self.world.version)
                self.positions[number] = self.world.version
            for version in range(self.positions[number], self.world.version):
                self._event(number, self.world.history[version], version)
            writer.advance_to(self.world.version)
        records = {s.name: self.read(s.bytes) for s in self.world.states(self.world.version)}
        covered = {n: r.version for n, r in records.items() if any(c.matches(r) for c in self.coverages)}
        assert {n: r.version for n in "abc" if (r := self._shown(n))} == covered
        assert not len(self.lister.overlay)
        assert self.lister.store.size == sum(len(r.data) for r in self.lister.store)


class WholeKindMachine(CacheMachine):
    """The usual case: one feed without selectors, where the exact view is known."""

    @invariant()
    def the_view_is_the_informers_state_or_the_own_write(self) -> None:
        if self.positions[0] < 0:
            return
        for name in "abc":
            own = self.own.get(name)
            if own is not None and own.version > self.positions[0]:
                expected = 0 if own.is_deletion else own.version
            else:
                state = self.world.state(self.positions[0], name)
                expected = state.version if state else 0
            record = self._shown(name)
            assert (record.version if record else 0) == expected


class SelectorsMachine(CacheMachine):
    """Two overlapping parts of a kind, each progressing independently."""

    coverages = (
        Coverage(labels=LabelSelector.parse("l in (x,y)")),
        Coverage(namespace="default", labels=LabelSelector.parse("l=y")),
    )


def test_an_own_write_that_is_gone_before_it_was_seen_is_told_of() -> None:
    """An own write that is deleted before its event arrives is reported as deleted."""
    mirror, read = Mirror(), RecordReader()
    lister = Lister(CONFIGMAP, read)
    writer = lister.add_writer(Coverage(), [mirror])
    writer.begin_list()
    writer.end_list(1)
    lister.wrote(body("a", 2, uid="one"))
    assert lister.find(Key("default", "a")) is not None
    writer.begin_list()  # the watch broke, and another client deleted the object meanwhile
    writer.end_list(4)
    assert lister.find(Key("default", "a")) is None
    assert [type(change) for change in mirror.changes] == [Created, Deleted]
    assert {change.key.name for change in mirror.changes if not isinstance(change, Synced)} == {"a"}


def test_what_leaves_one_selector_is_not_missing_while_another_lags_behind() -> None:
    """An object in two parts of a kind is shown until both have reported its removal."""
    mirror, read = Mirror(), RecordReader()
    lister = Lister(CONFIGMAP, read)
    writers = [lister.add_writer(Coverage(labels=LabelSelector.parse(text)), [mirror]) for text in ("l", "l=x")]
    for writer in writers:
        writer.begin_list()
        writer.end_list(1)
    writers[1].put(read(body("a", 2, labels={"l": "x"})))
    writers[1].advance_to(2)
    writers[1].remove(
        read(body("a", 3, labels={"l": "x"}))
    )  # the object has another label now, which the first part has yet to report
    writers[1].advance_to(3)
    assert lister.find(Key("default", "a")) is not None
    writers[0].put(read(body("a", 2, labels={"l": "x"})))
    writers[0].put(read(body("a", 3, labels={"l": "y"})))
    writers[0].advance_to(3)
    assert [type(change) for change in mirror.changes] == [Created, Updated]
    writers[0].remove(read(body("a", 4, labels={"l": "y"})))
    assert lister.overlay.find(Key("default", "a")) is None


def test_what_has_left_does_not_come_back_in_an_older_state() -> None:
    """A part that lags behind does not bring back an object with a state from before it left."""
    mirror, read = Mirror(), RecordReader()
    lister = Lister(CONFIGMAP, read)
    every, labelled = [lister.add_writer(coverage, [mirror]) for coverage in (Coverage(), Coverage(labels=X))]
    for writer in (every, labelled):
        writer.begin_list()
        writer.end_list(1)
    every.put(read(body("a", 2, labels={"l": "x"})))
    every.put(read(body("a", 3)))
    every.remove(read(body("a", 4)))
    every.advance_to(4)
    labelled.put(read(body("a", 2, labels={"l": "x"})))
    assert lister.overlay.find(Key("default", "a")) is None
    labelled.remove(read(body("a", 3, labels={"l": "x"})))
    labelled.advance_to(5)
    labelled.put(read(body("a", 6, labels={"l": "x"})))  # the object may have left the selection without being deleted
    assert [type(change) for change in mirror.changes] == [Created, Updated, Deleted, Created]


def test_a_list_that_has_what_has_left_is_believed() -> None:
    """A list can bring back an object that left: the server may have been restored from a backup."""
    mirror, read = Mirror(), RecordReader()
    lister = Lister(CONFIGMAP, read)
    every, labelled = [lister.add_writer(coverage, [mirror]) for coverage in (Coverage(), Coverage(labels=X))]
    for writer in (every, labelled):
        writer.begin_list()
        writer.end_list(5)
    every.put(read(body("a", 6)))
    every.remove(read(body("a", 7)))
    every.advance_to(7)
    labelled.begin_list()
    labelled.put(read(body("a", 3, labels={"l": "x"})))
    labelled.end_list(4)
    assert mirror.versions == {("default", "a"): 3}


def test_a_list_does_not_take_back_what_another_part_has_seen() -> None:
    """A new list of one part does not bring back states older than those another part has reported and dropped."""
    mirror, read = Mirror(), RecordReader()
    lister = Lister(CONFIGMAP, read)
    lagging, quick = [lister.add_writer(Coverage(labels=LabelSelector.parse(text)), [mirror]) for text in ("l", "l=x")]
    quick.begin_list()
    quick.end_list(1)
    lagging.begin_list()
    quick.put(read(body("a", 5, labels={"l": "x"})))
    quick.remove(read(body("a", 6, labels={"l": "x"})))
    quick.advance_to(6)
    lagging.put(read(body("a", 4, labels={"l": "x"})))
    lagging.end_list(4)
    assert mirror.versions == {("default", "a"): 5}, "the lagging part will tell what became of it"
    lagging.remove(read(body("a", 6, labels={"l": "x"})))
    assert [type(change) for change in mirror.changes] == [Created, Deleted]


def test_a_list_does_not_end_what_began_after_it() -> None:
    """A list does not delete an object that another part reported after the list's version."""
    mirror, read = Mirror(), RecordReader()
    lister = Lister(CONFIGMAP, read)
    lagging, quick = [lister.add_writer(Coverage(labels=LabelSelector.parse(text)), [mirror]) for text in ("l", "l=x")]
    quick.begin_list()
    quick.end_list(1)
    lagging.begin_list()
    quick.put(read(body("a", 5, labels={"l": "x"})))
    quick.remove(read(body("a", 6, labels={"l": "x"})))
    quick.advance_to(6)
    lagging.end_list(4)
    lagging.put(read(body("a", 5, labels={"l": "x"})))
    lagging.remove(read(body("a", 6, labels={"l": "x"})))
    assert [type(change) for change in mirror.changes] == [Created, Deleted]


def test_two_parts_that_list_at_once_lose_nothing() -> None:
    """An object that one list drops stays if the concurrent list of another part has it."""
    mirror, read = Mirror(), RecordReader()
    lister = Lister(CONFIGMAP, read)
    every, labelled = [lister.add_writer(coverage, [mirror]) for coverage in (Coverage(), Coverage(labels=X))]
    for writer in (every, labelled):
        writer.begin_list()
        writer.put(read(body("a", 2, labels={"l": "x"})))
        writer.end_list(2)
    every.begin_list()
    labelled.begin_list()
    every.put(read(body("a", 3)))  # now without the label
    labelled.end_list(4)
    every.end_list(4)
    assert lister.find(Key("default", "a")) is not None
    assert [type(change) for change in mirror.changes] == [Created, Updated]


def test_a_restored_server_takes_everything_back() -> None:
    """A list with an older version is accepted: the server was restored from a backup."""
    mirror, read = Mirror(), RecordReader()
    lister = Lister(CONFIGMAP, read)
    writer = lister.add_writer(Coverage(), [mirror])
    for version in (9, 4):
        writer.begin_list()
        writer.put(read(body("a", version - 1)))
        writer.end_list(version)
    assert mirror.versions == {("default", "a"): 3}


X = LabelSelector.parse("l=x")
STEPS = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestWholeKind = WholeKindMachine.TestCase
TestWholeKind.settings = STEPS
TestSelectors = SelectorsMachine.TestCase
TestSelectors.settings = STEPS


def test_a_query_and_a_coverage_are_compared_by_their_requirements() -> None:
    """A list is answered only if it includes each requirement of a coverage."""
    coverage = Coverage(namespace="a", labels=LabelSelector.parse("x=1"))
    assert coverage.contains(ListQuery(namespace="a", labels=LabelSelector.parse("x=1,y=2")))
    assert not coverage.contains(ListQuery(namespace="a"))
    assert not coverage.contains(ListQuery(labels=LabelSelector.parse("x=1")))
