"""Log lines shared with controller-runtime, and their keys in JSON."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta

import pytest

from pyctrl.apiserver import ApiServer
from pyctrl.client import Config
from pyctrl.controller import Builder, Reconciler, Request, Result
from pyctrl.errors import LeadershipLost
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import Group, LeaderElection, Manager
from tests.unit.log._logged import logged, missing
from tests.unit.manager._replicas import Replica, config_map

CONTROLLER = "controller controllerGroup controllerKind"
OBJECT = f"{CONTROLLER} ConfigMap namespace name reconcileID"

#: The log of a full run: level, message, keys.
LINES = f"""
info  | Starting EventSource                                                 | {CONTROLLER} source
info  | Starting Controller                                                  | {CONTROLLER}
info  | Starting workers                                                     | {CONTROLLER} worker+count
debug | Reconciling                                                          | {OBJECT}
debug | Reconcile successful                                                 | {OBJECT}
debug | Reconcile done, requeueing                                           | {OBJECT} after
error | Reconciler error                                                     | {OBJECT} error stacktrace
info  | Attempting to acquire leader lease...                                | lock
info  | Successfully acquired lease                                          | lock
debug | Lease is held by and has not yet expired                             | lock holder
debug | two became leader                                                    | type reason object
error | Failed to renew lease                                                | lock
info  | healthz check failed                                                 | statuses
info  | Shutdown signal received, waiting for all workers to finish          | {CONTROLLER}
info  | All workers finished                                                 | {CONTROLLER}
info  | Stopping and waiting for leader election runnables                   |
info  | Stopping and waiting for non leader election runnables               |
info  | Stopping and waiting for caches                                      |
info  | Stopping and waiting for webhooks                                    |
error | error received after stop sequence was engaged                       | runnable error
info  | Wait completed, proceeding to shutdown the manager                   |
"""


class Moody(Reconciler[ConfigMap]):
    """Fails, requests a requeue, or succeeds, by the object's name."""

    async def reconcile(self, request: Request) -> Result | None:
        match request.name:
            case "fails":
                raise ValueError("no")
            case "again":
                return Result(requeue_after=timedelta(minutes=5))
        return None


async def forever() -> None:
    await asyncio.Event().wait()


async def fail_at_the_end() -> None:
    try:
        await forever()
    finally:
        raise ValueError("too late")


def unwell() -> None:
    raise RuntimeError("the licence has expired")


async def live(server: ApiServer) -> None:
    """Lead, fail a probe, reconcile, and stop."""
    election = LeaderElection(name="op", identity="two")
    async with Manager(Config.in_process(server), leader_election=election) as manager:
        Builder(manager).reconciles(ConfigMap).build(Moody())
        manager.add(forever, group=Group.OTHERS)
        manager.add(forever, group=Group.WEBHOOKS)
        manager.add(fail_at_the_end)
        manager.add_health_check("licence", unwell)
        async with manager.running():
            await manager.health.answer("/healthz")
            for name in ("fails", "again", "content"):
                await manager.client.create(config_map(name))
            await asyncio.sleep(60)


async def test_who_knows_the_logs_of_operators_in_go_knows_these() -> None:
    """The lines of a lost lease, a standby, a leader, its work and its stop are controller-runtime's."""
    server = ApiServer()
    with logged() as lines:
        one = Replica(server, "one")
        async with one.running():
            await one.manager.elected.wait()
            other = asyncio.create_task(live(server))
            await asyncio.sleep(20)
            one.cut()
            await asyncio.wait([one.ran])
            assert isinstance(one.ran.exception(), LeadershipLost)
            await other

    assert missing(LINES, lines) == []


async def test_each_attempt_has_an_id_and_the_object_under_its_kind() -> None:
    """Lines of an object can be found by its name, those of one reconcile by its id."""
    with logged() as lines:
        await live(ApiServer())

    failures = [line for line in lines if line["msg"] == "Reconciler error"]
    assert len(failures) > 5
    assert len({line["reconcileID"] for line in failures}) == len(failures)
    assert {json.dumps(line["ConfigMap"]) for line in failures} == {'{"name": "fails", "namespace": "default"}'}
    assert {line["controller"] for line in failures} == {"configmap"}


SERVERS = """
info | starting server                       | server addr port
info | Serving metrics server                | bindAddress secure port
info | Stopping and waiting for HTTP servers |
info | shutting down server                  | server
"""


@pytest.mark.real_time
async def test_servers_say_where_they_are() -> None:
    """The servers for probes and metrics log their addresses when they start and stop."""
    config = Config.in_process(ApiServer())
    manager = Manager(config, health_bind_address="127.0.0.1:0", metrics_bind_address="127.0.0.1:0")
    with logged() as lines:
        async with manager, manager.running():
            pass

    assert missing(SERVERS, lines) == []
    assert {line["server"] for line in lines if line["msg"] == "starting server"} == {"health probe"}
