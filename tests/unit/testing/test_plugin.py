"""The pytest plugin, as a project uses it."""

from __future__ import annotations

import re

import pytest

SETTINGS = """
[pytest]
asyncio_mode = {mode}
asyncio_default_fixture_loop_scope = function
filterwarnings = error
pyctrl_strict_loop = {strict}
pyctrl_virtual_time = virtual
"""


def _run(pytester: pytest.Pytester, code: str, *, strict: bool = True, mode: str = "auto") -> pytest.RunResult:
    pytester.makeini(SETTINGS.format(strict=str(strict).lower(), mode=mode))
    pytester.makepyfile(code)
    return pytester.runpytest_inprocess("-p", "no:randomly")


MISUSES = {
    "leaks_a_task": ("asyncio.create_task(asyncio.sleep(9), name='left')", "tasks left running"),
    "hides_a_failed_task": ("asyncio.create_task(broken()); await asyncio.sleep(0.01)", "unhandled exceptions"),
    "hides_a_failed_callback": ("asyncio.get_running_loop().call_soon(lambda: 1 / 0)", "unhandled exceptions"),
    "computes_for_long": ("compute(2.2)", "the loop was blocked: one iteration took 2."),
    "sleeps": ("time.sleep(0.01)", "Blocking call to time.sleep"),
    "connects": ("with socket.socket() as s: s.connect(('127.0.0.1', 9))", "Blocking call to socket.socket.connect"),
}


@pytest.mark.slow(reason="it computes for longer than the loop allows")
@pytest.mark.parametrize("marker", ["virtual_time", "real_time"])
def test_misuse_fails(pytester: pytest.Pytester, marker: str) -> None:
    """A test that leaks a task, hides an exception or blocks its loop fails, in virtual and in real time."""
    prelude = f"""
import asyncio, pytest, socket, time

pytestmark = pytest.mark.{marker}

async def broken():
    raise ValueError("seen by nobody")

def compute(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass

"""
    tests = [f"async def test_{name}():\n    {body}\n" for name, (body, _) in MISUSES.items()]

    result = _run(pytester, prelude + "\n".join(tests))

    outcomes = result.parseoutcomes()
    assert outcomes["errors"] == 4
    assert outcomes["failed"] == 2
    for name, (_, message) in MISUSES.items():
        assert re.search(rf"test_{name} _+\n(?s:.*?){message}", result.stdout.str()), name


def test_clean_tests_pass(pytester: pytest.Pytester) -> None:
    """A test that ends its tasks passes; tasks of a fixture do not count."""
    code = """
        import asyncio, pytest, time

        @pytest.fixture
        async def background():
            task = asyncio.create_task(asyncio.sleep(1000))
            yield task
            task.cancel()

        @pytest.mark.virtual_time
        async def test_virtual(background):
            await asyncio.sleep(10)

        async def test_real(background):
            await asyncio.sleep(0)

        def test_sync():
            time.sleep(0.001)
    """

    _run(pytester, code).assert_outcomes(passed=3)


@pytest.mark.slow(reason="a collection takes longer than the loop allows")
def test_garbage_collections_do_not_block(pytester: pytest.Pytester) -> None:
    """A collection visits the objects of the whole session, so its time is not the test's."""
    code = """
        import gc, time

        def compute(phase, _):
            end = time.thread_time() + 2.2 * (phase == "start")
            while time.thread_time() < end:
                pass

        async def test_collects():
            gc.callbacks.append(compute)
            gc.collect()
            gc.callbacks.remove(compute)
        """
    _run(pytester, code).assert_outcomes(passed=1)


def test_files_may_be_looked_at(pytester: pytest.Pytester) -> None:
    """A module that is first imported in a test may read links, as dateutil does."""
    code = """
        import os

        async def test_reads_a_link(tmp_path):
            (tmp_path / "link").symlink_to("target")
            assert os.readlink(tmp_path / "link") == "target"
        """
    _run(pytester, code).assert_outcomes(passed=1)


def test_a_loop_that_has_stopped_is_one_failure(pytester: pytest.Pytester) -> None:
    """Remaining tasks of a deadlock are not reported as a second error, which pytest would print first."""
    code = """
        import asyncio, pytest

        @pytest.mark.virtual_time
        async def test_waits_for_ever():
            task = asyncio.create_task(asyncio.Event().wait())
            await task
        """
    _run(pytester, code).assert_outcomes(failed=1)


def test_strictness_is_opt_in(pytester: pytest.Pytester) -> None:
    """Without the setting, the plugin changes nothing for tests without its markers."""
    code = """
        import asyncio, time

        async def test_as_ever():
            asyncio.create_task(asyncio.sleep(1000))
            time.sleep(0.001)
            assert type(asyncio.get_running_loop()).__module__.startswith("asyncio")
    """

    _run(pytester, code, strict=False).assert_outcomes(passed=1)


def test_works_in_strict_mode(pytester: pytest.Pytester) -> None:
    """The plugin works for projects that mark their async tests one by one."""
    code = """
        import asyncio, pytest

        @pytest.mark.asyncio
        @pytest.mark.virtual_time
        async def test_hour():
            await asyncio.sleep(3600)
            assert asyncio.get_running_loop().time() == 3600
    """

    _run(pytester, code, mode="strict").assert_outcomes(passed=1)


def test_unknown_argument_of_the_marker(pytester: pytest.Pytester) -> None:
    """A misspelt argument of virtual_time is an error with the valid arguments."""
    code = """
        import pytest

        @pytest.mark.virtual_time(limits=3)
        async def test_misspelt(): ...
    """

    result = _run(pytester, code)

    assert result.ret != pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["*virtual_time takes only limit=timedelta(...) and outside=..., not *"])


OUTSIDE = """
    import asyncio, pytest

    @pytest.fixture
    async def cluster(): ...

    @pytest.mark.virtual_time{argument}
    async def test_marked(cluster):
        assert asyncio.get_running_loop().time() > 0  # the real one has begun when the machine did

    @pytest.mark.virtual_time
    async def test_without_a_cluster():
        await asyncio.sleep(3600)
        assert asyncio.get_running_loop().time() == 3600

    @pytest.mark.real_time
    async def test_in_real_time(cluster): ...

    def test_sync(): ...
"""


@pytest.mark.parametrize("variable", ["USE_EXISTING_CLUSTER", "KUBEBUILDER_ASSETS"])
def test_virtual_time_on_an_outside_cluster_fails(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    """A virtual-time test on an external cluster fails, names the ways to choose otherwise, and the header says so."""
    monkeypatch.setenv(variable, "true")
    result = _run(pytester, OUTSIDE.format(argument=""))
    result.assert_outcomes(passed=3, errors=1)
    result.stdout.fnmatch_lines(
        [
            f"pyctrl: cluster of {variable}; tests in virtual time that use it: they fail",
            f"*this test runs in virtual time, which the cluster of {variable} does not: unset it; or *",
        ]
    )


@pytest.mark.slow(reason="runs pytest three times")
@pytest.mark.parametrize(("policy", "outcome"), [("skip", "skipped"), ("real", "passed")])
def test_a_project_or_a_test_can_choose_otherwise(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, policy: str, outcome: str
) -> None:
    """Such a test can be skipped with the reason, or run on the real clock; the marker wins over the setting."""
    monkeypatch.setenv("USE_EXISTING_CLUSTER", "true")
    expected = {"passed": 3}
    expected[outcome] = expected.get(outcome, 0) + 1
    result = _run(pytester, OUTSIDE.format(argument=f"(outside='{policy}')"))
    result.assert_outcomes(**expected)
    monkeypatch.setenv("PYTEST_ADDOPTS", f"-o pyctrl_virtual_time_outside={policy} -rs")
    result = _run(pytester, OUTSIDE.format(argument=""))
    result.assert_outcomes(**expected)
    if outcome == "skipped":
        result.stdout.fnmatch_lines(["SKIPPED*this test runs in virtual time, which the cluster of *"])
    result = _run(pytester, OUTSIDE.format(argument="(outside='fail')"))
    result.assert_outcomes(passed=3, errors=1)


def test_a_choice_that_there_is_not_is_named(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """A misspelt setting is an error that lists the valid values."""
    monkeypatch.setenv("USE_EXISTING_CLUSTER", "true")
    result = _run(pytester, OUTSIDE.format(argument="(outside='sometimes')"))
    result.stdout.fnmatch_lines(["*pyctrl_virtual_time_outside is one of fail, real, skip, not 'sometimes'*"])


def test_on_the_embedded_cluster_nothing_changes(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the embedded cluster the report has no header, and the clock is virtual."""
    for variable in ("USE_EXISTING_CLUSTER", "KUBEBUILDER_ASSETS"):
        monkeypatch.delenv(variable, raising=False)
    result = _run(pytester, OUTSIDE.format(argument="").replace("> 0", "== 0"))
    result.assert_outcomes(passed=4)
    assert "pyctrl: cluster of" not in result.stdout.str()


@pytest.mark.filterwarnings("ignore:controller configmap reads Secret")  # of the inner test, which is in this process
def test_an_undeclared_read_is_a_warning(pytester: pytest.Pytester) -> None:
    """A test whose reconciler reads a kind that it does not declare has a warning with the line and the remedy."""
    code = """
        import asyncio

        import pytest

        from pyctrl import Builder, Config, Key, Manager, ObjectMeta, Reconciler
        from pyctrl.apiserver import ApiServer
        from pyctrl.kinds.core.v1 import ConfigMap, Secret

        class Reads(Reconciler[ConfigMap]):
            async def reconcile(self, request):
                await self.client.find(Secret, Key("default", "db"))

        @pytest.mark.virtual_time
        @pytest.mark.filterwarnings("default")
        async def test_reads():
            async with Manager(Config.in_process(ApiServer())) as manager:
                manager.cache.informer(Secret)
                Builder(manager).build(Reads())
                async with manager.running():
                    await manager.client.create(ConfigMap(metadata=ObjectMeta(name="a", namespace="default")))
                    await asyncio.sleep(1)
        """
    result = _run(pytester, code, strict=False)
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*controller configmap reads Secret, whose changes cause no reconcile*"])


def test_a_marker_enables_features_of_the_embedded_cluster(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a test with the marker has a cluster that applies shard selectors."""
    for name in ("KUBEBUILDER_ASSETS", "USE_EXISTING_CLUSTER"):
        monkeypatch.delenv(name, raising=False)
    code = """
        import pytest
        from pyctrl.api import ShardRange, ShardSelector
        from pyctrl.kinds.core.v1 import ConfigMap

        LOWER = ShardSelector(ShardRange.split(2)[:1])

        @pytest.mark.feature_gates(ShardedListAndWatch=True)
        async def test_with(client):
            assert (await client.list(ConfigMap, shard_selector=LOWER)).metadata.shard_info is not None

        async def test_without(client):
            assert (await client.list(ConfigMap, shard_selector=LOWER)).metadata.shard_info is None
    """
    _run(pytester, code).assert_outcomes(passed=2)
