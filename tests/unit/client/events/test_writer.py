"""Failures and shutdown of the event writer, in virtual time: events wait, are retried, and are dropped."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta

import pytest
import yaml

from pyctrl.api import GroupVersionKind, Key, ObjectMeta, Unstructured
from pyctrl.apiserver import ApiServer, User
from pyctrl.client import Client, Config, EventWriter
from pyctrl.kinds.core.v1 import ConfigMap, Namespace
from pyctrl.kinds.events.v1 import Event
from pyctrl.testing import Answered, AnswerLost, ConnectionRefused, Delayed, Rule, Silent
from tests.unit.client.events._bench import EVENTS, bench, config_map, moment


async def test_telling_never_waits() -> None:
    """Recording an event does not wait for the server; the event is queued."""
    async with bench(Rule(Silent(), path=EVENTS, times=1)) as b:
        started = asyncio.get_running_loop().time()
        for number in range(20):
            b.recorder.normal(b.shop, f"Reason{number}", "said")
        assert asyncio.get_running_loop().time() == started
        assert not asyncio.iscoroutinefunction(b.recorder.normal)
        await asyncio.sleep(120)
        assert len(await b.events()) == 20


async def test_a_server_that_is_away_for_ten_minutes_loses_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """Events of an outage keep their order and times; the log has one line at its start and one at its end."""
    caplog.set_level(logging.INFO, "pyctrl.events")
    async with bench(Rule(ConnectionRefused(), times=None)) as b:
        for minute in range(10):
            b.recorder.normal(b.shop, f"Minute{minute}", "said")
            b.recorder.warning(b.shop, "Failed", "no server")
            await asyncio.sleep(60)
        assert await b.events() == []
        assert b.writer.statistics().waiting == 11
        b.network.clear()
        await asyncio.sleep(15)
        told = await b.told()
        assert [line for line in told if "Minute" in line] == [f"Minute{minute}: said x1" for minute in range(10)]
        assert "Failed: no server x10" in told
        assert {event.event_time.minute for event in await b.events() if event.event_time} == set(range(10))
    assert [record.message for record in caplog.records] == [
        "Server unavailable, keeping events",
        "Resumed writing events",
    ]


@pytest.mark.slow("writes a thousand events")
async def test_a_thousand_events_wait_and_further_ones_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    """At most 1000 events are queued during an outage; one log line a minute reports the dropped ones."""
    async with bench(Rule(ConnectionRefused(), times=None)) as b:
        for number in range(1500):
            b.recorder.normal(config_map(f"shop-{number}"), "Created", "said")
            await asyncio.sleep(0.1)
        statistics = b.writer.statistics()
        assert (statistics.waiting, statistics.dropped) == (1001, 499)  # the writer is trying one of them
        drops = [record for record in caplog.records if "dropping" in record.message]
        assert len(drops) == 1
        b.recorder.normal(b.shop, "Created", "said")
        await asyncio.sleep(20)
        b.recorder.normal(b.shop, "Created", "said")
        b.network.clear()
        await asyncio.sleep(15)
        assert len(await b.events()) == 1001
        drops = [record for record in caplog.records if "dropping" in record.message]
        assert [vars(record)["dropped"] for record in drops] == [1, 501]


async def test_what_the_server_fails_to_take_is_tried_for_two_minutes_while_others_go_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A webhook that fails for one namespace delays no other event; its events are retried for two minutes."""
    failing = Rule(Answered(status=500, reason="InternalError"), path=f"{EVENTS}bad{EVENTS[-1]}", times=None)
    async with bench(failing) as b:
        await b.client.create(Namespace(metadata=ObjectMeta(name="bad")))
        b.recorder.normal(ConfigMap(metadata=ObjectMeta(name="a", namespace="bad")), "Created", "lost")
        b.recorder.normal(b.shop, "Created", "said")
        await moment()
        assert await b.told() == ["Created: said x1"]
        await asyncio.sleep(150)
        assert len(b.network.befallen) == 12
        assert b.writer.statistics().refused == 1
    assert [record.message for record in caplog.records] == ["Unable to write event"]


async def test_an_outage_uses_up_no_tries() -> None:
    """Time in the queue during an outage does not reduce the number of retries of an event afterwards."""
    failing = Rule(Answered(status=500, reason="InternalError"), path=EVENTS, nth=81, times=5)
    async with bench(Rule(ConnectionRefused(), path=EVENTS, times=80), failing) as b:
        b.recorder.normal(b.shop, "Created", "said")
        await asyncio.sleep(3600)
        assert b.network.unused == []
        assert await b.told() == ["Created: said x1"]


async def test_repetitions_do_not_hurry_what_the_server_fails_to_take() -> None:
    """An event that repeats every second is still retried only every ten seconds."""
    async with bench(Rule(Answered(status=500, reason="InternalError"), path=EVENTS, times=3)) as b:
        for _ in range(60):
            b.recorder.normal(b.shop, "Created", "said")
            await asyncio.sleep(1)
        assert len(b.network.befallen) == 3
        (event,) = await b.events()
        assert event.metadata.creation_timestamp is not None
        assert event.metadata.creation_timestamp.second >= 30


async def test_a_lost_answer_makes_no_second_event() -> None:
    """After a lost response, the retry finds the existing event and adds the counts to that event."""
    async with bench(Rule(AnswerLost(), path=EVENTS)) as b:
        b.recorder.normal(b.shop, "Created", "said")
        await moment()
        b.recorder.normal(b.shop, "Created", "said")
        await asyncio.sleep(15)
        assert await b.told() == ["Created: said x2"]


async def test_two_programs_may_tell_of_an_object_at_the_same_moment() -> None:
    """Two programs that record an event of one object at the same moment use different names."""
    async with bench() as b:
        async with asyncio.TaskGroup() as group:
            other = EventWriter(b.client, host="other")
            group.create_task(other.run())
            b.recorder.normal(b.shop, "Created", "by one")
            other.recorder("shops").normal(b.shop, "Created", "by another")
            other.ask_to_stop()
        assert sorted(await b.told()) == ["Created: by another x1", "Created: by one x1"]


async def test_an_event_that_was_deleted_meanwhile_is_made_again_with_its_count() -> None:
    """An event that the cluster deleted, after an hour, is created again with its count."""
    async with bench() as b:
        b.recorder.normal(b.shop, "Created", "said")
        await moment()
        for event in await b.events():
            await b.client.delete(Event, event.key)
        b.recorder.normal(b.shop, "Created", "said")
        await moment()
        assert await b.told() == ["Created: said x2"]


EVENTS_RULE = {"apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch"]}


async def test_a_missing_right_is_said_once_and_events_come_when_it_is_granted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A missing permission is logged once with the rule to grant; events are written once the permission exists."""
    server = ApiServer(authorization="RBAC")
    admin = Client.connect(
        Config.in_process(server, token=server.issue_token(User(name="a", groups=("system:masters",))))
    )
    shop = await admin.create(config_map("shop"))
    client = Client.connect(Config.in_process(server, token=server.issue_token(User(name="jane"))))
    writer = EventWriter(client)
    recorder = writer.recorder("shops")
    async with asyncio.TaskGroup() as group:
        group.create_task(writer.run())
        for number in range(5):
            recorder.normal(shop, f"Reason{number}", "said")
        await asyncio.sleep(600)
        (record,) = caplog.records
        assert record.message == "Events are forbidden: grant this rule, and add EVENTS to the rbac of the controller"
        assert yaml.safe_load(vars(record)["rule"]) == [EVENTS_RULE]
        commands = vars(record)["commands"]
        assert "kubectl create role " in commands
        assert "--verb=create,patch --resource=events.events.k8s.io" in commands
        assert "--user=jane" in commands
        assert 'User "jane" cannot create resource "events"' in vars(record)["error"]
        await grant(admin, "jane", EVENTS_RULE)
        recorder.normal(shop, "Granted", "said")
        await moment()
        assert [event.reason for event in await admin.list(Event)] == ["Granted"]
        writer.ask_to_stop()
    assert writer.statistics().refused == 5


async def test_a_quota_is_not_a_missing_right(caplog: pytest.LogCaptureFixture) -> None:
    """Another reason for a forbidden event is logged once with the server's message, without advice on permissions."""
    quota = Answered(status=403, reason="Forbidden", message='events "a" is forbidden: exceeded quota: few')
    async with bench(Rule(quota, times=None)) as b:
        for number in range(5):
            b.recorder.normal(b.shop, f"Reason{number}", "said")
        await asyncio.sleep(600)
        assert b.writer.statistics().refused == 5
    (record,) = caplog.records
    assert record.message == "Events rejected by admission"
    assert "exceeded quota: few" in vars(record)["error"]
    assert "rule" not in vars(record)


async def grant(admin: Client, user: str, rule: dict[str, list[str]]) -> None:
    """Grant a user a permission in all namespaces."""
    rbac = "rbac.authorization.k8s.io"
    role = GroupVersionKind(rbac, "v1", "ClusterRole")
    binding = GroupVersionKind(rbac, "v1", "ClusterRoleBinding")
    subject = {"kind": "User", "apiGroup": rbac, "name": user}
    reference = {"kind": "ClusterRole", "apiGroup": rbac, "name": user}
    await admin.create(Unstructured.new(role, name=user, rules=[rule]))
    await admin.create(Unstructured.new(binding, name=user, roleRef=reference, subjects=[subject]))


async def test_events_of_a_namespace_that_is_gone_are_let_be(caplog: pytest.LogCaptureFixture) -> None:
    """Events in a namespace that is being deleted are dropped without a log line."""
    async with bench() as b:
        b.recorder.normal(ConfigMap(metadata=ObjectMeta(name="a", namespace="gone")), "Deleted", "said")
        await asyncio.sleep(60)
        assert b.writer.statistics().waiting == 0
        assert b.writer.statistics().refused == 1
        assert len(b.writes) == 1
        ending = await b.client.create(Namespace(metadata=ObjectMeta(name="ending")))
        await b.client.delete(ending)
        b.recorder.normal(ConfigMap(metadata=ObjectMeta(name="a", namespace="ending")), "Deleted", "said")
        await moment()
        assert b.writer.statistics().refused == 2
    assert not caplog.records


async def test_stopping_writes_what_waits_with_the_last_counts() -> None:
    """On stop, the writer sends queued events and counts that it had postponed."""
    async with bench(Rule(Delayed(timedelta(seconds=0.5)), path=EVENTS, times=None)) as b:
        for number in range(5):
            b.recorder.normal(b.shop, f"Reason{number}", "said")
        for _ in range(7):
            b.recorder.normal(b.shop, "Again", "said")
            await asyncio.sleep(5)
        b.recorder.normal(b.shop, "Last", "said")
    assert sorted(await b.told()) == [
        "Again: said x7",
        "Last: said x1",
        *(f"Reason{number}: said x1" for number in range(5)),
    ]


@pytest.mark.parametrize(
    "fault", [ConnectionRefused(), Silent(), Answered.unavailable(), Answered(status=500, reason="InternalError")]
)
async def test_stopping_takes_five_seconds_at_most(fault: ConnectionRefused, caplog: pytest.LogCaptureFixture) -> None:
    """On stop, the writer waits five seconds at most for the server; the log has the number of lost events."""
    async with bench(Rule(fault, times=None)) as b:
        for number in range(5):
            b.recorder.normal(b.shop, f"Reason{number}", "said")
        await moment()
        begun = asyncio.get_running_loop().time()
    assert asyncio.get_running_loop().time() - begun <= 5
    statistics = b.writer.statistics()
    assert statistics.waiting + statistics.refused == 5
    last = caplog.records[-1]
    if statistics.waiting:
        assert (last.message, vars(last)["events"]) == ("Stopped before all events were written", statistics.waiting)


async def test_a_writer_that_is_cancelled_says_what_is_lost(caplog: pytest.LogCaptureFixture) -> None:
    """A cancelled writer logs the number of lost events."""
    writer = EventWriter(Client.connect(Config.in_process(ApiServer())))
    task = asyncio.create_task(writer.run())
    await moment()
    writer.recorder("shops").normal(config_map("a"), "Created", "said")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    (record,) = caplog.records
    assert (record.message, vars(record)["events"]) == ("Stopped before all events were written", 1)


async def test_events_that_were_told_before_the_writer_runs_are_written_when_it_does() -> None:
    """Events that are recorded before the writer runs are written once it runs."""
    client = Client.connect(Config.in_process(ApiServer()))
    writer = EventWriter(client)
    writer.recorder("shops").normal(config_map("a"), "Created", "said")
    writer.ask_to_stop()
    await writer.run()
    assert [event.reason for event in await client.list(Event)] == ["Created"]
    assert await client.find(Event, Key("default", "none")) is None
