"""Metrics of a manager: readiness and leader election."""

from __future__ import annotations

import asyncio

import pytest

from pyctrl.apiserver import ApiServer
from pyctrl.client import Config
from pyctrl.controller import Builder
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import LeaderElection, Manager
from tests.unit.manager._scrape import Moody, Scrape


@pytest.fixture
async def manager() -> Manager:
    return Manager(Config.in_process(ApiServer()))


async def test_the_leader_is_told_of() -> None:
    """The leader metric is 0 before and 1 while this replica leads, with the name of the election."""
    config = Config.in_process(ApiServer())
    async with Manager(config, leader_election=LeaderElection(name="op")) as manager:
        scrape = Scrape(manager)
        assert scrape("leader_election_master_status", name="op") == 0
        async with manager.running():
            await asyncio.sleep(5)
            assert scrape("leader_election_master_status", name="op") == 1
            assert (scrape("pyctrl_leader_election_renewal_age_seconds", name="op") or 0) < 2.5


async def test_who_is_not_ready_is_named(manager: Manager) -> None:
    """The metrics have the names in /readyz, and the state of each controller."""
    async with manager:
        Builder(manager).reconciles(ConfigMap).build(Moody())
        scrape = Scrape(manager)
        assert (scrape("pyctrl_ready"), scrape("pyctrl_ready_check", check="manager")) == (0, 0)
        assert scrape("pyctrl_controller_state", controller="configmap", state="not_started") == 1
        async with manager.running():
            await asyncio.sleep(1)
            assert (scrape("pyctrl_ready"), scrape("pyctrl_ready_check", check="manager")) == (1, 1)
            assert scrape("pyctrl_controller_ready", controller="configmap") == 1
            assert scrape("pyctrl_controller_state", controller="configmap", state="running") == 1
