"""Missing, granted and revoked permissions of a manager's service account on a server with RBAC."""

from __future__ import annotations

import asyncio
import logging

import pytest

from pyctrl.api import ObjectMeta
from pyctrl.client import Client, InProcessTransport
from pyctrl.controller import Builder, ControllerState, Request
from pyctrl.errors import MissingPermissions, TerminalError
from pyctrl.kinds.core.v1 import ConfigMap, Secret, Service
from pyctrl.manager import Group, Manager, Preflight
from pyctrl.rbac import EVENTS, LEADER_ELECTION, allow
from pyctrl.testing import Answered, FaultyTransport, Rule
from tests.unit.manager.permissions._permissions import Marker, build, now, only, warnings, world

LATER = "failed requests are retried once it may"


async def test_nobody_waits_for_what_he_can_do_without(caplog: pytest.LogCaptureFixture) -> None:
    """A missing permission that is not essential, as for Events, is logged; the controller works and is ready."""
    caplog.set_level(logging.INFO)
    async with world() as it, Manager(it.config) as manager:
        controller, marker = build(manager, ConfigMap, allow(ConfigMap, "patch"), EVENTS)
        await it.grant(only(manager, "configmaps"))
        await it.create(ConfigMap, "one")
        async with manager.running():
            await asyncio.sleep(10)
            assert list(marker.marked) == ["one"]
            assert (controller.state, manager.not_ready) == (ControllerState.RUNNING, {})
            [told] = warnings(caplog)
            assert "may not create and patch events.events.k8s.io at the cluster scope, and continues without" in told
            await it.grant(manager.grants())
            await asyncio.sleep(60)
    assert any("Permission granted: create and patch events" in record.getMessage() for record in caplog.records)


async def test_one_controller_waits_for_its_rights_and_the_other_runs() -> None:
    """A controller waits for its permissions beyond any timeout and starts within 30 s of the grant; others run."""
    async with world() as it, Manager(it.config) as manager:
        blocked, secrets = build(manager, Secret)
        free, maps = build(manager, ConfigMap)
        everything = manager.grants()
        await it.grant(only(manager, "configmaps"))
        await it.create(Secret, "s")
        await it.create(ConfigMap, "c")
        async with manager.running():
            await asyncio.sleep(600)
            assert (free.state, blocked.state) == (ControllerState.RUNNING, ControllerState.WAITING_FOR_RIGHTS)
            assert (list(maps.marked), list(secrets.marked)) == (["c"], [])
            assert manager.not_ready == {
                "secret": "waits for rights: it may not list secrets at the cluster scope, "
                "patch secrets at the cluster scope, watch secrets at the cluster scope"
            }
            begun = now()
            await it.grant(everything)
            while blocked.permissions.problem:
                await asyncio.sleep(0.1)
            assert now() < begun + 31
            await asyncio.sleep(0.1)  # the kind is listed at once, although its next retry was half a minute away
            assert blocked.is_ready
            assert manager.not_ready == {}
            assert list(secrets.marked) == ["s"]


async def test_a_controller_does_not_work_with_half_of_its_rights() -> None:
    """A controller that may list and watch, but not write, does not start."""
    async with world() as it, Manager(it.config) as manager:
        controller, marker = build(manager, ConfigMap, allow(ConfigMap, "patch"), allow(Secret, "create"))
        await it.grant(only(manager, "configmaps"))
        await it.create(ConfigMap, "c")
        async with manager.running():
            await asyncio.sleep(60)
            assert controller.why_not_ready == "waits for rights: it may not create secrets at the cluster scope"
            assert controller.statistics().reconciles.success == 0
            await it.grant(manager.grants())
            await asyncio.sleep(32)
            assert list(marker.marked) == ["c"]


async def test_strict_ends_with_everything_that_is_missing() -> None:
    """With strict permissions, `run` raises one error with all messages before any controller starts."""
    async with world() as it, Manager(it.config, preflight=Preflight.STRICT) as manager:
        build(manager, Secret)
        build(manager, ConfigMap)
        await it.grant(only(manager, "configmaps"))
        with pytest.raises(MissingPermissions, match="secret may not list, patch and watch secrets") as caught:
            await manager.run(handle_signals=False)
        assert "kubectl create clusterrolebinding default:bot:secrets:list-patch-watch" in str(caught.value)
        assert "configmaps" not in str(caught.value)


async def test_strict_is_content_with_rights_that_are_there() -> None:
    """With strict permissions, a login with every permission starts normally."""
    async with world() as it, Manager(it.config, preflight=Preflight.STRICT) as manager:
        controller, _ = build(manager, ConfigMap)
        await it.grant(manager.grants())
        async with manager.running():
            await asyncio.sleep(1)
            assert controller.is_ready


async def test_rights_that_are_lost_and_given_back(caplog: pytest.LogCaptureFixture) -> None:
    """A revoked role is logged once and fails readiness; within about 30 s of a new grant all is reconciled."""
    async with world() as it, Manager(it.config) as manager:
        controller, marker = build(manager, ConfigMap)
        await it.grant(manager.grants())
        async with manager.running():
            await asyncio.sleep(60)
            assert controller.is_ready
            await it.revoke()
            for number in range(20):
                await it.create(ConfigMap, f"c{number}")
                await asyncio.sleep(60)
            assert controller.state is ControllerState.LACKING_RIGHTS
            assert "patch configmaps at the cluster scope" in manager.not_ready["configmap"]
            assert not marker.marked
            await asyncio.sleep(24)  # the next retries have just begun to wait for a minute
            given_back = now()
            await it.grant(manager.grants())
            await asyncio.sleep(35)
            assert len(marker.marked) == 20
            assert max(marker.marked.values()) <= given_back + 31
            assert controller.is_ready
            assert manager.not_ready == {}
    told = [text for text in warnings(caplog) if "may not patch configmaps" in text]
    assert len(told) == 1
    assert "failed requests are retried once it may" in told[0]


class Wrapping(Marker):
    """Raises its own errors, with the refusal as cause."""

    async def reconcile(self, request: Request) -> None:
        """Raise a terminal error when the request is refused."""
        try:
            await super().reconcile(request)
        except Exception as error:
            raise TerminalError("this cannot be done") from error


async def test_what_was_given_up_for_want_of_a_right_is_done_once_it_is_granted() -> None:
    """A refusal counts anywhere in the error's causes, and its grant retries even a terminal error."""
    async with world() as it, Manager(it.config) as manager:
        marker = Wrapping(ConfigMap)
        controller = Builder(manager).reconciles(ConfigMap).build(marker)
        await it.grant(manager.grants())
        async with manager.running():
            await asyncio.sleep(5)
            await it.revoke()
            await it.create(ConfigMap, "c")
            await asyncio.sleep(5)
            assert controller.statistics().reconciles.terminal_error == 1
            assert not controller.is_ready
            await it.grant(manager.grants())
            await asyncio.sleep(35)
            assert list(marker.marked) == ["c"]


async def test_a_refusal_that_is_about_no_right_is_an_ordinary_failure() -> None:
    """An exceeded quota is an ordinary failure: no role can grant it."""

    class Refused(Marker):
        async def reconcile(self, request: Request) -> None:
            await self.client.create(Secret(metadata=ObjectMeta(name=request.name, namespace=request.namespace)))

    async with world() as it:
        quota = Answered(status=403, reason="Forbidden", message='secrets "c" is forbidden: exceeded quota: few')
        rules = [Rule(quota, method="POST", path="*/secrets", times=None)]
        wire = FaultyTransport(InProcessTransport(it.cluster.server, credentials=it.config.credentials), rules)
        async with Manager(client=Client(wire)) as manager:
            marker = Refused(ConfigMap, allow(Secret, "create"))
            controller = Builder(manager).reconciles(ConfigMap).build(marker)
            await it.grant(manager.grants())
            async with manager.running():
                await asyncio.sleep(30)
                assert controller.statistics().reconciles.error > 5
                assert controller.is_ready


async def test_a_controller_that_is_added_later_is_reviewed_too(caplog: pytest.LogCaptureFixture) -> None:
    """The permissions of a controller added at run time are reviewed at once, and missing ones are logged."""
    async with world() as it, Manager(it.config) as manager:
        build(manager, ConfigMap)
        await it.grant(manager.grants())
        async with manager.running():
            await asyncio.sleep(60)
            late, _ = build(manager, Secret)
            await asyncio.sleep(1)
            assert late.state is ControllerState.WAITING_FOR_RIGHTS
            assert any(text.startswith("secret may not list, patch and watch secrets") for text in warnings(caplog))
            await it.grant(manager.grants())
            await asyncio.sleep(31)
            assert late.is_ready


async def test_whatever_else_needs_rights_is_named_and_held_up_by_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """A runnable with missing permissions runs; the log and `not_ready` name the permissions."""
    started: list[float] = []

    class Election:
        name = "election"
        rbac = (LEADER_ELECTION,)

        async def run(self) -> None:
            started.append(now())
            await asyncio.Event().wait()

    async with world() as it, Manager(it.config) as manager:
        manager.cache.informer(Service)
        manager.add(Election(), group=Group.OTHERS)
        async with manager.running():
            assert started
            assert set(manager.not_ready) == {"election", "cache"}
    assert [text.split("\n")[0] for text in warnings(caplog)] == [
        f"cache may not list and watch services at the cluster scope; {LATER}",
        f"election may not create, get and update leases.coordination.k8s.io in namespace 'default'; {LATER}",
    ]
