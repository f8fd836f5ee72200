"""Reconciles that catch Forbidden: counted and logged, because no error reaches the controller."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

import pytest

from pyctrl.api import Key, ObjectMeta
from pyctrl.apiserver import ApiServer, User
from pyctrl.client import Client, Config
from pyctrl.controller import Builder, Reconciler, Request
from pyctrl.errors import Forbidden
from pyctrl.kinds.core.v1 import ConfigMap, Secret
from pyctrl.kinds.rbac.v1 import ClusterRole, ClusterRoleBinding, PolicyRule, RoleRef, Subject
from pyctrl.manager import Manager, Preflight

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
