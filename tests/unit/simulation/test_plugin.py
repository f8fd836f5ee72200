"""The fixture ``explore`` in a project: what a failing test prints, how it is replayed, and how it is misused."""

from __future__ import annotations

import pytest

OPERATOR = '''
import pytest
from pyctrl.api import ObjectMeta, set_controller_reference
from pyctrl.api import CustomResource, Model
from pyctrl.controller import ObjectReconciler
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.rbac import allow

class Parent(CustomResource[Model, Model], group="plugin.example.com", version="v1"):
    """A parent."""

class ParentReconciler(ObjectReconciler[Parent]):
    owns = (ConfigMap,)
    rbac = (allow(ConfigMap, "create"),)

    async def reconcile_object(self, parent: Parent) -> None:
        if not await self.client.list(ConfigMap, index=("owner", parent.metadata.uid)):
            child = ConfigMap(metadata=ObjectMeta(generate_name="child-", namespace="default"))
            set_controller_reference(parent, child)
            await self.client.create(child)

scenario = [Parent(metadata=ObjectMeta(name="a", namespace="default"))]
'''
LOST = "answer-lost create configmaps default/child-*#1"


def result_of(pytester: pytest.Pytester, test: str) -> pytest.RunResult:
    """Run a test beside the operator."""
    pytester.makepyfile(OPERATOR + test)
    return pytester.runpytest("-p", "no:randomly")


@pytest.mark.slow(reason="four explorations of some runs, each with three without faults")
def test_a_failure_is_a_story_and_the_summary_says_what_was_tried(pytester: pytest.Pytester) -> None:
    """A failing test prints what happened, the probable cause, and the line that replays it."""
    test = "def test_it(explore):\n    explore(ParentReconciler, scenario, only='error', budget=20)\n"

    result = result_of(pytester, test)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "E*pyctrl.simulation.SimulationFailed: *",
            "E*What happened:",
            "E*Probable cause: create is not idempotent*",
            f'E*@pytest.mark.replay("{LOST}")'.replace("[", "[[]"),
            "*test_it: ParentReconciler: 1 mistake found (*",
        ]
    )


@pytest.mark.slow(reason="four explorations of some runs, each with three without faults")
def test_a_replay_tries_only_its_schedule(pytester: pytest.Pytester) -> None:
    """A test with the marker fails by its schedule, and passes with one that the operator survives."""
    test = "explore(ParentReconciler, scenario)\n"
    fails = f"@pytest.mark.replay('{LOST}')\ndef test_fails(explore):\n    {test}"
    passes = f"@pytest.mark.replay('crash step#1')\ndef test_passes(explore):\n    {test}"

    result = result_of(pytester, fails + passes)

    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["*test_passes: ParentReconciler: no mistake found (1 run, *"])


@pytest.mark.parametrize(
    ("test", "error"),
    [
        ("async def test_it(explore):\n    explore(ParentReconciler, scenario)\n", "*call it from a plain function*"),
        (
            "def test_it(explore):\n    explore(ParentReconciler, scenario, only='crashes')\n",
            "*only= takes families of plans, crash, *; got 'crashes'*",
        ),
        (
            "@pytest.mark.replay('crash now')\ndef test_it(explore):\n    explore(ParentReconciler, scenario)\n",
            "*expected 'FAULT POINT#N'*got 'crash now'*",
        ),
        ("def test_it(explore):\n    explore(7, scenario)\n", "*expected a program: a function*got 7*"),
        ("def test_it(explore):\n    explore(ParentReconciler, 7)\n", "*expected a scenario: an async function*got 7*"),
    ],
    ids=["async", "family", "schedule", "program", "scenario"],
)
def test_a_misuse_has_one_clear_error(pytester: pytest.Pytester, test: str, error: str) -> None:
    """The error says what was expected and what came."""
    result = result_of(pytester, "\npytestmark = pytest.mark.asyncio\n" * test.startswith("async") + test)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([error])
