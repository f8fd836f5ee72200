"""pytest plugin: virtual time for marked tests, and fixtures with a cluster.

pytest loads it automatically (entry point ``pytest11``) wherever pyctrl is installed. It does not affect tests that use
none of it. The setting ``pyctrl_strict_loop`` turns on the checks of the event loop. Fixtures are in ``_fixtures.py``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any

import pytest

from pyctrl.testing._cluster.choice import ClusterChoice, cluster_choice
from pyctrl.testing._loop.virtual_time import LIMIT
from pyctrl.testing._loop.watched_loop import WatchedLoop, WatchedVirtualTimeLoop

__all__: list[str] = []

MARKERS = (
    "rbac: authorize requests to this test's embedded cluster by RBAC, as other clusters do",
    "feature_gates(NAME=True, ...): enable features of this test's embedded cluster, by kube-apiserver's names",
    "virtual_time(limit=timedelta(days=1), outside='fail'): run this async test on a clock that jumps",
    "real_time: run this async test on the real clock although its directory is listed in pyctrl_virtual_time",
)

#: The policies for tests in virtual time whose cluster runs in real time.
OUTSIDE = {"fail": "they fail", "real": "they run on the real clock", "skip": "they are skipped"}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the settings."""
    parser.addini("pyctrl_virtual_time", "directories whose async tests run in virtual time", type="paths", default=[])
    parser.addini(
        "pyctrl_virtual_time_outside",
        "policy for tests in virtual time whose cluster is outside of this process and runs in real time: "
        "fail, real (run on the real clock) or skip",
        default="fail",
    )
    parser.addini(
        "pyctrl_strict_loop", "fail tests that leak tasks or block the event loop", type="bool", default=False
    )
    group = parser.getgroup("pyctrl", "rights of operators")
    group.addoption("--rbac-record", metavar="FILE", help="add the accesses of operators to this file")
    group.addoption(
        "--rbac-check",
        metavar="TARGET",
        help="fail unless this program, such as FILE.py:FUNCTION, declares every access of the operators",
    )
    group.addoption("--rbac-strict", action="store_true", help="also fail if it declares more than that, or wildcards")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the markers."""
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    if config.option.rbac_record or config.option.rbac_check:
        from pyctrl.testing._access import session

        config.pluginmanager.register(session, "pyctrl-accesses")
    if config.pluginmanager.hasplugin("asyncio"):
        from pyctrl.testing import _fixtures  # here: needs pytest-asyncio, which is of extra `test`

        config.pluginmanager.register(_fixtures, "pyctrl-fixtures")


def pytest_report_header(config: pytest.Config) -> str | None:
    """Report the cluster of the tests and its policy for virtual time, unless it is the embedded one."""
    if cluster_choice() is ClusterChoice.EMBEDDED:
        return None
    policy = config.getini("pyctrl_virtual_time_outside")
    return f"pyctrl: cluster of {_variable()}; tests in virtual time that use it: {OUTSIDE.get(policy, policy)}"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail or skip a test in virtual time whose cluster is outside of this process, unless it may take real time."""
    if not (_is_virtual(item) and _uses_outside_cluster(item)):
        return
    policy = _policy(item)
    reason = (
        f"this test runs in virtual time, which the cluster of {_variable()} does not: unset it; or let such tests run "
        "on the real clock, or skip them, by pyctrl_virtual_time_outside = real|skip, or for this one by "
        "pytest.mark.virtual_time(outside='real'|'skip')"
    )
    if policy == "fail":
        pytest.fail(reason, pytrace=False)
    if policy == "skip":
        pytest.skip(reason)


@pytest.hookimpl(optionalhook=True)
def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Return the event loop factory of ``item``: a virtual one if its marker or its directory says so."""
    if _is_virtual(item) and not _uses_outside_cluster(item):
        return {"virtual": partial(WatchedVirtualTimeLoop, limit=_limit(item))}
    return {"real": WatchedLoop if config.getini("pyctrl_strict_loop") else asyncio.new_event_loop}


def _is_virtual(item: pytest.Item) -> bool:
    """Return True if the test or its directory is marked for virtual time and the test not for real time."""
    if item.get_closest_marker("real_time") is not None or not iscoroutinefunction(getattr(item, "obj", None)):
        return False
    return item.get_closest_marker("virtual_time") is not None or _in_virtual_directory(item.config, item.path)


def _uses_outside_cluster(item: pytest.Item) -> bool:
    return cluster_choice() is not ClusterChoice.EMBEDDED and "cluster" in getattr(item, "fixturenames", ())


def _variable() -> str:
    return "USE_EXISTING_CLUSTER" if cluster_choice() is ClusterChoice.EXISTING else "KUBEBUILDER_ASSETS"


def _limit(item: pytest.Item) -> timedelta:
    limit: timedelta = _arguments(item).get("limit", LIMIT)
    return limit


def _policy(item: pytest.Item) -> str:
    """Return the policy for a test whose cluster runs in real time: that of its marker, or of the project."""
    policy: str = _arguments(item).get("outside") or item.config.getini("pyctrl_virtual_time_outside")
    if policy not in OUTSIDE:
        raise pytest.UsageError(f"pyctrl_virtual_time_outside is one of {', '.join(OUTSIDE)}, not {policy!r}")
    return policy


def _arguments(item: pytest.Item) -> Mapping[str, Any]:
    marker = item.get_closest_marker("virtual_time")
    if marker is None:
        return {}
    if marker.args or set(marker.kwargs) - {"limit", "outside"}:
        raise pytest.UsageError(f"virtual_time takes only limit=timedelta(...) and outside=..., not {marker}")
    return marker.kwargs


def _in_virtual_directory(config: pytest.Config, path: Path) -> bool:
    return any(path.is_relative_to(directory) for directory in config.getini("pyctrl_virtual_time"))
