"""Memberships under any order of their requests: no two ever work on one slot at the same time."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from pyctrl.controller import all_slots
from tests.unit.manager.sharding._interleavings import Node, Server, Write

NODES = st.integers(0, 2)
EVEN = int("01" * 512, 2)
SLOTS = st.sampled_from([EVEN, all_slots()])
SPEEDS = st.sampled_from([1.0, 0.976, 1.024])  # the fastest is 5 % faster than the slowest


class Ring(RuleBasedStateMachine):
    """Three replicas, of which each may be anywhere between two steps; time passes only between steps."""

    def __init__(self) -> None:
        super().__init__()
        self.time = 0.0
        self.server = Server()
        self.nodes: list[Node] = []
        self.flying: list[tuple[Node, Write]] = []
        self.started = 0

    @initialize(speeds=st.tuples(SPEEDS, SPEEDS, SPEEDS), rounds=st.integers(0, 3))
    def start(self, speeds: tuple[float, ...], rounds: int) -> None:
        self.nodes = [self.node(speed) for speed in speeds]
        for _ in range(rounds):
            self.round()

    def node(self, speed: float) -> Node:
        self.started += 1
        return Node(f"n{self.started}", self.server, speed)

    def after(self, seconds: float, number: int) -> Node:
        self.time += seconds
        return self.nodes[number]

    # --- what usually happens ---

    @rule()
    def round(self) -> None:
        """Each renews its Lease, reads all, and applies what it has read."""
        for node in self.nodes:
            node.renew(self.time)
            node.look(self.time)

    @rule(seconds=st.sampled_from([0.5, 2, 5, 9.5, 14.2, 15.5]))
    def wait(self, seconds: float) -> None:
        self.time += seconds

    @rule(number=NODES)
    def renew(self, number: int) -> None:
        self.nodes[number].renew(self.time)

    @rule(number=NODES, seconds=st.sampled_from([0, 0, 4, 15.5]))
    def look(self, number: int, seconds: float) -> None:
        self.after(seconds, number).look(self.time)

    @rule(number=NODES)
    def apply(self, number: int) -> None:
        self.nodes[number].apply(self.time)

    @rule(number=NODES, slots=SLOTS)
    def run(self, number: int, slots: int) -> None:
        self.nodes[number].run(slots, self.time)

    @rule(number=NODES)
    def finish(self, number: int) -> None:
        self.nodes[number].busy = 0

    @rule(number=NODES)
    def clean_up(self, number: int) -> None:
        self.nodes[number].clean_up()

    @rule(number=NODES)
    def leave(self, number: int) -> None:
        self.nodes[number].membership.is_leaving = True

    @rule(number=NODES, speed=SPEEDS)
    def crash(self, number: int, speed: float) -> None:
        """A replica ends, and another one takes its place."""
        self.nodes[number] = self.node(speed)

    # --- what happens after a fault ---

    @rule(number=NODES, seconds=st.sampled_from([5, 10, 14.5, 16]))
    def stand_still(self, number: int, seconds: float) -> None:
        """One replica does nothing for a while, in which the others work as usual."""
        end = self.time + seconds
        others = [node for node in self.nodes if node is not self.nodes[number]]
        while self.time < end:
            self.time = min(self.time + 5, end)
            for node in others:
                node.renew(self.time)
                node.look(self.time)

    @rule(number=NODES, seconds=st.sampled_from([4, 8]), silence=st.sampled_from([0, 10]))
    def renew_slowly(self, number: int, seconds: float, silence: float) -> None:
        """The answer to a renewal, which others read at once, takes some seconds; then the replica may do nothing."""
        node = self.nodes[number]
        node.arrive(node.send_write(self.time))
        for other in self.nodes:
            if other is not node:
                other.look(self.time)
        self.time += seconds
        node.answer(self.time)
        self.stand_still(number, silence)

    @rule(number=NODES, is_read_late=st.booleans())
    def look_slowly(self, number: int, is_read_late: bool) -> None:
        """A list takes longer than a Lease lives, while all renew theirs."""
        node = self.nodes[number]
        node.send_list(self.time)
        if not is_read_late:
            node.read_list()
        for _ in range(2):
            self.time += 8
            for each in self.nodes:
                each.renew(self.time)
        if is_read_late:
            node.read_list()
        node.answer_list(self.time)
        node.apply(self.time)

    # --- requests that take their time ---

    @rule(number=NODES)
    def send_write(self, number: int) -> None:
        node = self.nodes[number]
        self.flying.append((node, node.send_write(self.time)))

    @precondition(lambda self: self.flying)
    @rule(which=st.integers(0, 3), seconds=st.sampled_from([0, 1, 15.5]))
    def arrive(self, which: int, seconds: float) -> None:
        self.time += seconds
        node, write = self.flying.pop(which % len(self.flying))
        node.arrive(write)

    @rule(number=NODES, seconds=st.sampled_from([0, 1, 15.5]))
    def answer(self, number: int, seconds: float) -> None:
        node = self.after(seconds, number)
        if node.write is not None and node.write.has_arrived:
            node.answer(self.time)

    @rule(number=NODES)
    def send_list(self, number: int) -> None:
        self.nodes[number].send_list(self.time)

    @rule(number=NODES)
    def read_list(self, number: int) -> None:
        self.nodes[number].read_list()

    @rule(number=NODES, seconds=st.sampled_from([0, 4, 15.5]))
    def answer_list(self, number: int, seconds: float) -> None:
        self.after(seconds, number).answer_list(self.time)

    # --- what must hold ---

    @invariant()
    def no_slot_has_two_replicas(self) -> None:
        for one, other in combinations(self.nodes, 2):
            both = one.works_on(self.time) & other.works_on(self.time)
            assert not both, f"{one.name} and {other.name} work on {both.bit_count()} slots at {self.time}"


@pytest.mark.slow(reason="some thousand steps of interleaved requests")
@pytest.mark.timeout(120)
def test_no_slot_ever_has_two_replicas() -> None:
    """In any order of requests, delays, losses, crashes and ends of terms no two work on a slot that may write."""
    run_state_machine_as_test(
        Ring,
        settings=settings(
            max_examples=150,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
        ),
    )
