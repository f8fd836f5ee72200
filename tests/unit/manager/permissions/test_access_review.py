"""Reviews of a manager's permissions, and servers without reviews."""

from __future__ import annotations

import asyncio
import logging

import pytest

from pyctrl.client import Client, InProcessTransport
from pyctrl.cluster import Cluster
from pyctrl.controller import ControllerState
from pyctrl.kinds.core.v1 import ConfigMap, Secret
from pyctrl.manager import Manager, Preflight
from pyctrl.testing import Answered, FaultyTransport, Rule
from tests.unit.manager.permissions._permissions import build, only, warnings, world

UNAVAILABLE = [
    Answered(status=404, reason="NotFound"),
    Answered(status=403, reason="Forbidden"),
    Answered(status=500, reason="InternalError"),
]


@pytest.mark.parametrize("answer", UNAVAILABLE, ids=["absent", "forbidden", "broken"])
@pytest.mark.parametrize("mode", [Preflight.WARN, Preflight.STRICT])
async def test_what_cannot_be_reviewed_keeps_nobody_from_anything(
    answer: Answered, mode: Preflight, caplog: pytest.LogCaptureFixture
) -> None:
    """Failed reviews are logged once, and all runnables start, strict or not."""
    caplog.set_level(logging.INFO, "pyctrl.manager")
    async with world() as it:
        wire = FaultyTransport(
            InProcessTransport(it.cluster.server, credentials=it.config.credentials),
            [Rule(answer, path="*/selfsubjectaccessreviews", times=None)],
        )
        async with Manager(client=Client(wire), preflight=mode) as manager:
            controller, marker = build(manager, ConfigMap)
            await it.grant(manager.grants())
            await it.create(ConfigMap, "c")
            async with manager.running():
                await asyncio.sleep(120)
                assert controller.is_ready
                assert list(marker.marked) == ["c"]
    said = [r for r in caplog.records if "Failed to review permissions" in r.getMessage()]
    assert len(said) == 1


async def test_without_reviews_a_refusal_is_proof_enough(caplog: pytest.LogCaptureFixture) -> None:
    """Without reviews, a forbidden request of a reconcile is logged once, and counts until a request succeeds."""
    async with world() as it:
        absent = Rule(Answered(status=404, reason="NotFound"), path="*/selfsubjectaccessreviews", times=None)
        wire = FaultyTransport(InProcessTransport(it.cluster.server, credentials=it.config.credentials), [absent])
        async with Manager(client=Client(wire)) as manager:
            controller, marker = build(manager, ConfigMap)
            await it.grant(manager.grants())
            async with manager.running():
                await asyncio.sleep(5)
                await it.revoke()
                await it.create(ConfigMap, "c")
                await asyncio.sleep(600)
                assert controller.state is ControllerState.LACKING_RIGHTS
                await it.grant(manager.grants())
                await asyncio.sleep(90)
                assert controller.is_ready
                assert list(marker.marked) == ["c"]
    [told] = [text for text in warnings(caplog) if "may not" in text]
    assert told.startswith("system:serviceaccount:default:bot may not patch configmaps in namespace 'default'\n")


async def test_without_reviews_a_forbidden_kind_holds_up_nobody_else(caplog: pytest.LogCaptureFixture) -> None:
    """With preflight off, a controller waits for a forbidden kind, which the cache logs, and other controllers run."""
    async with world() as it, Manager(it.config, preflight=Preflight.OFF) as manager:
        blocked, _ = build(manager, Secret)
        free, _ = build(manager, ConfigMap)
        everything = manager.grants()
        await it.grant(only(manager, "configmaps"))
        async with manager.running():
            await asyncio.sleep(600)
            assert free.is_ready
            assert blocked.state is ControllerState.WAITING_FOR_RIGHTS
            assert "secrets is forbidden" in manager.not_ready["secret"]
            await it.grant(everything)
            await asyncio.sleep(31)
            assert blocked.is_ready
    assert any("kubectl create clusterrolebinding" in text for text in warnings(caplog, "pyctrl.cache"))


async def test_a_server_that_says_yes_and_does_no_is_not_asked_without_end() -> None:
    """When a review allows a request that the server refuses, retries keep their backoff and reviews their interval."""
    async with world() as it:
        message = 'User "bot" cannot patch resource "configmaps" in API group "" in the namespace "default"'
        rules = [Rule(Answered(status=403, reason="Forbidden", message=message), method="PATCH", times=None)]
        wire = FaultyTransport(InProcessTransport(it.cluster.server, credentials=it.config.credentials), rules)
        async with Manager(client=Client(wire)) as manager:
            controller, _ = build(manager, ConfigMap)
            await it.grant(manager.grants())
            await it.create(ConfigMap, "c")
            async with manager.running():
                await asyncio.sleep(600)
                assert controller.statistics().reconciles.error < 25
                assert "it was forbidden to patch configmaps in namespace 'default'" in controller.why_not_ready
                asked = [r for r in wire.requests if r.path.endswith("selfsubjectaccessreviews")]
                assert len(asked) < 30


async def test_where_everybody_may_do_everything_nothing_is_said(caplog: pytest.LogCaptureFixture) -> None:
    """Without authorization every review allows, and nothing is logged."""
    async with Cluster(kubelet=False) as cluster, Manager(cluster.config, preflight=Preflight.STRICT) as manager:
        controller, _ = build(manager, ConfigMap)
        async with manager.running():
            await asyncio.sleep(1)
            assert controller.is_ready
            assert manager.not_ready == {}
    assert not warnings(caplog)
