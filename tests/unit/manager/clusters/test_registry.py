"""The clusters and fleets of a manager: unique names."""

from __future__ import annotations

import pytest

from pyctrl.apiserver import ApiServer
from pyctrl.client import Config
from pyctrl.controller import Builder, Reconciler, Request
from pyctrl.errors import ManagerError
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import InMemoryProvider, Manager
from pyctrl.rbac import allow
from tests.unit.manager._fleets import Away, logged, settle, texts, world


async def test_names_are_taken_once() -> None:
    """A cluster whose name is in use joins once the other one has left; the reason is logged once."""
    one, another = Away("one"), Away("one")
    async with world() as there:
        theirs = InMemoryProvider({"one": another.config})
        other = there.manager.add_fleet("other", theirs)
        with logged() as records:
            async with there.manager.running():
                await other.wait_for("one")
                there.add(one)
                await settle(600)
                assert len(there.fleet) == 0
                theirs.remove("one")
                await settle(61)
                assert list(there.fleet) == ["one"]
    assert len(texts(records, "Cluster cannot join: another cluster or fleet has its name")) == 1


async def test_clusters_that_nobody_has_added_are_told_at_the_start() -> None:
    """A permission for an unknown cluster, which would never be reviewed, is an error at start."""

    class Misspelt(Reconciler[ConfigMap]):
        rbac = (allow(ConfigMap, "create", cluster="remot"),)

        async def reconcile(self, request: Request) -> None: ...

    async with Manager(Config.in_process(ApiServer())) as manager:
        manager.add_cluster("remote", Config.in_process(ApiServer()))
        Builder(manager).reconciles(ConfigMap).build(Misspelt())
        with pytest.raises(ManagerError, match=r"configmap declares permissions in cluster 'remot'.*added: 'remote'"):
            await manager.run(handle_signals=False)
