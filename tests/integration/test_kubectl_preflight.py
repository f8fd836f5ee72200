"""The commands that a manager prints for missing permissions grant them when pasted into a shell."""

from __future__ import annotations

import asyncio
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from pyctrl.api import Key, ObjectMeta
from pyctrl.client import Client
from pyctrl.controller import Builder, Reconciler, Request
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import ConfigMap, Secret, ServiceAccount
from pyctrl.manager import Manager
from pyctrl.rbac import PermissionScope, allow
from pyctrl.testing import ClusterUnderTest
from tests.integration._inventory import over_https, prepared
from tests.integration._kubectl import Kubectl

pytestmark = [
    pytest.mark.rbac,
    pytest.mark.real_time,  # sockets and processes
    pytest.mark.slow("each command is a process, which asks for discovery anew"),
    pytest.mark.timeout(120),
]


class Wanting(Reconciler[ConfigMap]):
    """A reconciler that needs a permission of every form."""

    rbac = (
        allow(ConfigMap, "create", "patch"),
        allow(Deployment, "patch", subresource="status"),
        allow(Secret, "get", names=["it's"]),
        allow(Secret, "deletecollection", where=PermissionScope.CLUSTER),
        allow("/metrics", "get"),
    )

    async def reconcile(self, request: Request) -> None:
        """Do nothing."""


def commands_in(texts: list[str]) -> list[list[str]]:
    """Return the command lines of messages, split like a shell does, without `kubectl`."""
    return [shlex.split(line)[1:] for text in texts for line in text.split("\n") if line.startswith("  kubectl ")]


def rules_in(text: str) -> Any:
    """Return the rule of a message, parsed as part of a role."""
    lines = [line for line in text.split("\n") if line.startswith(("  - ", "    "))]
    return yaml.safe_load("rules:\n" + "\n".join(lines))["rules"]


async def test_what_is_pasted_grants_what_is_missing(
    cluster: ClusterUnderTest, client: Client, namespace: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """After the last command the controller starts, and the printed rules equal those that kubectl creates."""
    async with over_https(cluster) as served, prepared(served, namespace) as site:
        (tmp_path / "kubeconfig").write_text(site.cluster.config.to_kubeconfig())
        kubectl = Kubectl(tmp_path / "kubeconfig", site.namespace)
        bot = Key(site.namespace, "bot")
        await site.admin.create(ServiceAccount(metadata=ObjectMeta(name=bot.name, namespace=bot.namespace)))
        config = await site.cluster.config_for_account(bot)
        async with Manager(config, namespaces=[site.namespace]) as manager:
            controller = Builder(manager).reconciles(ConfigMap).build(Wanting())
            async with manager.running():
                texts = [r.getMessage() for r in caplog.records if "may not" in r.getMessage()]
                commands = commands_in(texts)
                assert len(texts) == 5
                try:
                    for command in commands:
                        assert "created" in await kubectl(*command)
                    async with asyncio.timeout(60):
                        while not controller.is_ready:
                            await asyncio.sleep(0.1)
                    for text, (_, kind, name, *_) in zip(texts, commands[::2], strict=True):
                        made = yaml.safe_load(await kubectl("get", kind, name, "-o", "yaml"))
                        assert rules_in(text) == [{key: made["rules"][0][key] for key in rules_in(text)[0]}]
                finally:
                    for _, kind, name, *_ in commands:
                        await kubectl("delete", kind, name, "--ignore-not-found")
