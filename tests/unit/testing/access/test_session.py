"""The pytest plugin's options for permissions, as a project uses them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import cryptography.hazmat.primitives.asymmetric.padding
import cryptography.hazmat.primitives.asymmetric.rsa
import cryptography.hazmat.primitives.serialization
import pytest

import pyctrl.cluster
import pyctrl.testing._access.under_role
from pyctrl.api import Access
from pyctrl.rbac import RecordedAccess, read_recording, write_recording
from pyctrl.testing._access.session import RECORDED, SENT, pytest_testnodedown

pytestmark = pytest.mark.slow("each test is a session of tests, with clusters that have RBAC")

# Imported by each inner session otherwise: pytester unloads new modules, and cryptography is no module to be
# imported twice.
LOADED = (cryptography, pyctrl.cluster, pyctrl.testing._access.under_role)

OPERATOR = """
    from pyctrl import Builder, Reconciler, allow
    from pyctrl.kinds.core.v1 import ConfigMap, Secret

    class Doorman(Reconciler[ConfigMap]):
        rbac = (allow(ConfigMap, "patch"),)

        async def reconcile(self, request):
            found = await self.client.find(ConfigMap, request.key)
            if found is not None and request.name == "guest" and "greeting" not in found.data:
                found.data["greeting"] = "hello"
                await self.client.update(found)

    class HonestDoorman(Doorman):
        rbac = (allow(ConfigMap, "update"),)

    def add_doorman(host):
        Builder(host).reconciles(ConfigMap).build(Doorman())

    def add_honest(host):
        Builder(host).reconciles(ConfigMap).build(HonestDoorman())
"""
TESTS = """
    import pytest
    from pyctrl import Key, Manager, ObjectMeta
    from pyctrl.client import wait_for
    from pyctrl.kinds.core.v1 import ConfigMap
    from doorman import add_doorman, add_honest

    async def greets(client, namespace):
        await client.create(ConfigMap(metadata=ObjectMeta(name="guest", namespace=namespace)))
        await wait_for(client, ConfigMap, Key(namespace, "guest"), lambda found: "greeting" in found.data)

    @pytest.mark.virtual_time
    async def test_as_administrator(operator_config, client, namespace):
        async with Manager(operator_config) as manager:
            add_doorman(manager)
            async with manager.running():
                await greets(client, namespace)

    @pytest.mark.virtual_time
    async def test_under_role(under_role, client, namespace):
        async with under_role(add_honest):
            await greets(client, namespace)
"""
INI = """
[pytest]
asyncio_mode = auto
asyncio_default_fixture_loop_scope = function
pythonpath = .
"""

ASKER = r"controller configmap for test-\w+/guest in test_a_session_\w+\.py::test_as_administrator"

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester) -> Run:
    """Run a project's tests with options; ``-k`` selects some."""
    pytester.makeini(INI)
    pytester.makepyfile(TESTS, doorman=OPERATOR)
    return lambda *options: pytester.runpytest_inprocess("-p", "no:randomly", *options)


def test_a_session_fails_by_a_right_that_is_not_declared(run: Run) -> None:
    """With passing tests, the session fails for an undeclared permission, and names it and its first request."""
    result = run("--rbac-check", "doorman:add_doorman", "-k", "administrator")
    result.assert_outcomes(passed=1, deselected=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.re_match_lines(
        [
            "=+ rights of doorman:add_doorman =+",
            rf"missing: update configmaps in some namespace \(requested once, by {ASKER}\)",
            "unused: patch configmaps at the cluster scope",
        ]
    )


def test_a_session_passes_with_what_is_declared(run: Run) -> None:
    """Operators under their role are recorded too; surplus permissions fail the session only on request."""
    result = run("--rbac-check", "doorman:add_honest", "--rbac-strict")
    result.assert_outcomes(passed=2)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.re_match_lines(["nothing is missing, and nothing is unused"])


def test_what_is_too_much_fails_a_strict_session_only(run: Run) -> None:
    """Surplus permissions are reported, and fail a strict session only: tests need not cover everything."""
    options = ("--rbac-check", "doorman.py:add_both", "-k", "under_role")
    Path("doorman.py").write_text(Path("doorman.py").read_text() + BOTH)
    lenient, strict = run(*options), run(*options, "--rbac-strict")
    for result in (lenient, strict):
        result.stdout.re_match_lines(["unused: get secrets at the cluster scope"])
    assert [lenient.ret, strict.ret] == [pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED]


BOTH = """
def add_both(host):
    reconciler = HonestDoorman()
    reconciler.rbac = (*reconciler.rbac, allow(Secret, "get"))
    Builder(host).reconciles(ConfigMap).build(reconciler)
"""


def test_recordings_add_up(run: Run) -> None:
    """A session adds its recording to those in the file."""
    for name in ("administrator", "under_role"):
        assert run("--rbac-record", "asked.json", "-k", name).ret == pytest.ExitCode.OK
    asked = {str(each.access): each for each in read_recording(Path("asked.json").read_text(), "asked.json")}
    assert sorted(asked) == [
        "list configmaps at the cluster scope",
        "update configmaps in namespace '*'",
        "watch configmaps at the cluster scope",
    ]
    assert asked["update configmaps in namespace '*'"].times == 2


class Node:
    """A finished worker of pytest-xdist."""

    def __init__(self, config: pytest.Config, **workeroutput: str) -> None:
        self.config, self.workeroutput = config, workeroutput


def test_what_workers_kept_is_taken_over(pytester: pytest.Pytester) -> None:
    """Recordings of all pytest-xdist workers count; a crashed worker has none."""
    config = pytester.parseconfig()
    asked = RecordedAccess(access=Access("get", "", "pods"))
    for output in ({SENT: write_recording([asked])}, {}, {SENT: write_recording([])}):
        pytest_testnodedown(Node(config, **output))
    assert config.stash[RECORDED] == [asked]


def test_nothing_recorded_is_a_failure(run: Run) -> None:
    """A session without recorded operators fails, and the message says how to record them."""
    result = run("--rbac-check", "doorman:add_doorman", "-k", "no_such_test")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.re_match_lines(["no access of an operator was recorded: pass operators `operator_config`"])


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--rbac-check", "doorman:add_nothing"], "ERROR: doorman has no function 'add_nothing'; it has add_doorman"),
        (["--rbac-record", "doorman.py"], "ERROR: doorman.py is not a recording written by pytest --rbac-record"),
        (["--rbac-record", "."], "ERROR: .*Is a directory"),
    ],
)
def test_options_that_cannot_be_are_told_at_once(run: Run, options: list[str], line: str) -> None:
    """Invalid options fail the session before any test runs."""
    result = run(*options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.re_match_lines([line])
