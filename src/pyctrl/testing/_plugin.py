"""The pytest plugin: virtual time for marked tests, and fixtures that give a cluster.

Loaded by pytest itself (entry point ``pytest11``) wherever pyctrl is installed. It does nothing to tests that use none
of it; the checks of the event loop are on only where ``pyctrl_strict_loop`` says so. Fixtures are in ``_fixtures.py``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from pyctrl.testing._choice import Choice, chosen
from pyctrl.testing._loop_watch import WatchedLoop, WatchedVirtualTimeLoop
from pyctrl.testing._virtual_time import LIMIT

__all__: list[str] = []

MARKERS = (
    "rbac: roles decide who may do what in this test's embedded cluster, as they do elsewhere",
    "virtual_time(limit=timedelta(days=1)): run this async test on a clock that jumps instead of waiting",
    "real_time: run this async test on the real clock although its directory is listed in pyctrl_virtual_time",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the settings."""
    parser.addini("pyctrl_virtual_time", "directories whose async tests run in virtual time", type="paths", default=[])
    parser.addini(
        "pyctrl_strict_loop", "fail tests that leak tasks or block the event loop", type="bool", default=False
    )
    group = parser.getgroup("pyctrl", "rights of operators")
    group.addoption("--rbac-record", metavar="FILE", help="add to this file what operators ask of the cluster")
    group.addoption(
        "--rbac-check",
        metavar="TARGET",
        help="fail unless this program, such as FILE.py:FUNCTION, declares what operators ask of the cluster",
    )
    group.addoption("--rbac-strict", action="store_true", help="fail too if it declares more, or wildcards")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the markers."""
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    if config.option.rbac_record or config.option.rbac_check:
        from pyctrl.testing import _session_accesses

        config.pluginmanager.register(_session_accesses, "pyctrl-accesses")
    if config.pluginmanager.hasplugin("asyncio"):
        from pyctrl.testing import _fixtures  # here: needs pytest-asyncio, which is of extra `test`

        config.pluginmanager.register(_fixtures, "pyctrl-fixtures")


@pytest.hookimpl(optionalhook=True)
def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Give pytest-asyncio the loop for ``item``: virtual where it is marked so, or where its directory is."""
    marker = item.get_closest_marker("virtual_time")
    if marker is not None and not _needs_the_outside(item):
        return {"virtual": partial(WatchedVirtualTimeLoop, limit=_limit(marker))}
    if _in_virtual_directory(config, item.path) and not _needs_the_outside(item):
        return {"virtual": WatchedVirtualTimeLoop}
    return {"real": WatchedLoop if config.getini("pyctrl_strict_loop") else asyncio.new_event_loop}


def _needs_the_outside(item: pytest.Item) -> bool:
    """Whether the test asks for real time, or for a cluster that the environment puts outside of this process."""
    if item.get_closest_marker("real_time") is not None:
        return True
    return chosen() is not Choice.EMBEDDED and "cluster" in getattr(item, "fixturenames", ())


def _limit(marker: pytest.Mark) -> timedelta:
    if marker.args or set(marker.kwargs) - {"limit"}:
        raise pytest.UsageError(f"virtual_time takes limit=timedelta(...) and nothing else, not {marker}")
    limit: timedelta = marker.kwargs.get("limit", LIMIT)
    return limit


def _in_virtual_directory(config: pytest.Config, path: Path) -> bool:
    return any(path.is_relative_to(directory) for directory in config.getini("pyctrl_virtual_time"))
