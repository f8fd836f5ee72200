"""The fixtures of the pytest plugin; async ones are declared through pytest-asyncio, so they work in both its modes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from pyctrl.testing._loop_watch import no_blocking_calls, no_leftovers

__all__: list[str] = []


@pytest.fixture(autouse=True)
def _pyctrl_strict_loop(request: pytest.FixtureRequest) -> Iterator[None]:
    """Watch the loop of an async test, where ``pyctrl_strict_loop`` asks for it."""
    if not request.config.getini("pyctrl_strict_loop") or not pytest_asyncio.is_async_test(request.node):
        yield
        return
    request.getfixturevalue("_pyctrl_no_leftovers")
    with no_blocking_calls():
        yield


@pytest_asyncio.fixture
async def _pyctrl_no_leftovers() -> AsyncIterator[None]:
    """Set up before every other async fixture and so torn down after all of them, when nothing may be left."""
    async with no_leftovers():
        yield
