"""Reconciles that catch Forbidden: counted and logged, because no error reaches the controller."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

import pytest

from pyctrl.api import Access, Key, ObjectMeta
from pyctrl.apiserver import ApiServer, User
from pyctrl.client import Client, Config
from pyctrl.controller import Builder, Reconciler, Request
from pyctrl.controller._permissions import PermissionTracker
from pyctrl.errors import Forbidden
from pyctrl.kinds.core.v1 import ConfigMap, Secret
from pyctrl.kinds.rbac.v1 import ClusterRole, ClusterRoleBinding, PolicyRule, RoleRef, Subject
from pyctrl.manager import Manager, Preflight
from tests.unit.controller._kit import A, B

RULES = [PolicyRule(api_groups=[""], resources=["configmaps"], verbs=["get", "list", "watch"])]
SENTENCE = "Reconciles succeed although they may not get secrets in namespace 'default'; "


class Curious(Reconciler[ConfigMap]):
    """Reads a Secret and ignores Forbidden; fails if the ConfigMap says so."""

    def __init__(self, live: Client) -> None:
        self._live = live

    async def reconcile(self, request: Request) -> None:
        with suppress(Forbidden):
            await self._live.get(Secret, Key("default", request.name))
        found = await self.client.get(ConfigMap, request.key)
        if "fail" in found.data:
            await self._live.list(Secret)


async def test_a_refusal_that_is_swallowed_is_counted_and_said_once(caplog: pytest.LogCaptureFixture) -> None:
    """Each caught Forbidden is counted, the missing permission is logged once, and the controller stays ready."""
    server = ApiServer(tokens={"joe": User(name="joe")})
    async with Client.connect(Config.in_process(server, token=server.loopback_token)) as admin:
        await admin.create(ClusterRole(metadata=ObjectMeta(name="reader"), rules=RULES))
        role = RoleRef(api_group="rbac.authorization.k8s.io", kind="ClusterRole", name="reader")
        joe = Subject(api_group="rbac.authorization.k8s.io", kind="User", name="joe")
        await admin.create(ClusterRoleBinding(metadata=ObjectMeta(name="joe"), role_ref=role, subjects=[joe]))
        for name in "abc":
            await admin.create(ConfigMap(metadata=ObjectMeta(name=name, namespace="default")))
        async with Manager(Config.in_process(server, token="joe"), preflight=Preflight.OFF) as manager:
            live = Client.connect(Config.in_process(server, token="joe"))
            controller = Builder(manager).reconciles(ConfigMap).build(Curious(live))
            with caplog.at_level(logging.WARNING, "pyctrl.controller"):
                async with manager.running(), live:
                    await asyncio.sleep(1)
                    told = [record.message for record in caplog.records]
                    assert controller.statistics().reconciles.forbidden == 3
                    assert (controller.is_ready, controller.permissions.problem) == (True, "")
                    failing = ConfigMap(metadata=ObjectMeta(name="d", namespace="default"), data={"fail": "yes"})
                    await admin.create(failing)
                    await asyncio.sleep(0.001)
                    assert controller.statistics().reconciles.forbidden == 5

    assert len(told) == 1
    assert told[0].startswith(SENTENCE)
    assert controller.permissions.problem == "it was forbidden to list secrets at the cluster scope"


LIST_PODS = Access("list", resource="pods", namespace="default")
GET_PODS = Access("get", resource="pods", namespace="default")
REFUSED = Forbidden(
    'pods is forbidden: User "op" cannot list resource "pods" in API group "" in the namespace "default"', code=403
)


def test_a_refusal_of_admission_is_no_missing_permission(caplog: pytest.LogCaptureFixture) -> None:
    """It is not logged when the reconcile succeeds: there is nothing to declare or to grant."""
    tracker = PermissionTracker(lambda _request: None)
    with caplog.at_level(logging.WARNING, "pyctrl.controller"):
        tracker.log_ignored(Forbidden('events "a" is forbidden: namespace x is being terminated', code=403))
        assert not caplog.records
        tracker.log_ignored(REFUSED)
    assert len(caplog.records) == 1


def test_a_granted_permission_retries_the_requests_that_were_refused_for_it() -> None:
    """A review in which a permission is no longer missing retries its refused requests, and no others."""
    retried: list[Request] = []
    tracker = PermissionTracker(retried.append)
    tracker.review([LIST_PODS, GET_PODS])
    tracker.record_outcome(A, REFUSED)
    tracker.record_outcome(B, ValueError("another error"))
    tracker.review([LIST_PODS])
    assert retried == []
    tracker.review([])
    assert retried == [A]


async def test_a_controller_waits_for_its_review_and_for_what_it_needs() -> None:
    """A controller waits for its first review and for essential permissions, not for dispensable ones."""
    tracker = PermissionTracker(lambda _request: None)
    tracker.expect_review()
    waiting = asyncio.create_task(tracker.wait_until_complete())
    await asyncio.sleep(1)
    assert not waiting.done()
    tracker.review([LIST_PODS, GET_PODS], dispensable=[GET_PODS])
    await asyncio.sleep(1)
    assert not waiting.done()
    tracker.review([GET_PODS], dispensable=[GET_PODS])
    await waiting
