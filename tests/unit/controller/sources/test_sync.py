"""Sources that do not sync: the controller's log lines and its end."""

from __future__ import annotations

import asyncio

import pytest

from pyctrl.controller import (
    ControllerState,
    OnSyncFailure,
)
from pyctrl.errors import ControllerError
from tests.unit.controller._kit import A, B, Listed, make, nothing, now, running


async def test_a_source_that_does_not_sync_is_named_with_its_trouble(caplog: pytest.LogCaptureFixture) -> None:
    """A source not synced after two minutes is logged once as an error; the controller waits on and starts late."""
    controller = make(nothing, Listed(A), Listed(B, after=400))
    async with running(controller) as calls:
        await asyncio.sleep(119)
        assert controller.state is ControllerState.WAITING_FOR_SOURCES
        await asyncio.sleep(80)
        assert controller.why_not_ready == "cannot start: Listed: things.example.com is forbidden"
        await asyncio.sleep(300)
        assert controller.is_ready

    assert calls == [(400, A), (400, B)]
    [error] = [record for record in caplog.records if record.levelname == "ERROR"]
    assert error.getMessage() == "Could not wait for Cache to sync"


async def test_a_source_that_does_not_sync_ends_the_controller_if_that_is_asked_for() -> None:
    """With OnSyncFailure.END the controller fails after two minutes and names the source and its last error."""
    controller = make(nothing, Listed(A), Listed(B, after=1000))
    controller.on_sync_failure = OnSyncFailure.END
    with pytest.raises(ControllerError, match=r"thing caches to sync: not within 120 s: Listed: things.* is forbidden"):
        await controller.run()

    assert now() == 120
