"""Tests of `pyctrl rbac doctor`: text, JSON and exit codes."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Run
from tests.unit.rbac import _seeds as seeds

EXAMPLES = Path(__file__).parents[4] / "examples"
PROGRAM = """
    from pyctrl import Builder, Reconciler
    from pyctrl.kinds.apps.v1 import Deployment
    from pyctrl.kinds.core.v1 import ConfigMap


    class ConfigReconciler(Reconciler[ConfigMap]):
        async def reconcile(self, request):
            pass


    def add_configs(host):
        Builder(host).reconciles(ConfigMap).watches(Deployment, lambda change: []).build(ConfigReconciler())
"""


@pytest.fixture
def role(tmp_path: Path) -> Path:
    """Files with the Role, its binding to a user, the Secret and the Deployment of an example."""
    file = tmp_path / "role.yaml"
    file.write_text(f"{seeds.SECRET}---{seeds.ROLE}---{seeds.FOR_USER}---{seeds.DEPLOYMENT}")
    return file


def test_it_looks_at_one_account_if_asked(run: Run, role: Path) -> None:
    """With an account, findings about others are left out; an account without permissions is reported."""
    ran = run("rbac", "doctor", "other:robot", "-f", role)
    assert ran.code == 0
    assert ran.out == "ServiceAccount other/robot\n  has nothing: no binding names it\n\nnothing found\n"


def test_the_namespace_of_what_names_none(run: Run, role: Path) -> None:
    """-n is the namespace of objects without one, as in kubectl."""
    told = json.loads(run("rbac", "doctor", "-f", role, "-n", "ci", "-o", "json").out)
    places = {each["object"]["kind"]: each["object"].get("namespace") for each in told["findings"]}
    assert places["Secret"] == "ci"


def test_it_says_what_grants_each_right_of_a_program(run: Run, tmp_path: Path) -> None:
    """With a program, each permission is listed with the binding that grants it, or as an error."""
    program, role = tmp_path / "configs.py", tmp_path / "role.yaml"
    program.write_text(textwrap.dedent(PROGRAM))
    role.write_text(f"{seeds.JENKINS}---{seeds.CLUSTER_ROLE}---{seeds.WIDE}")
    ran = run("rbac", "doctor", "jenkins", program, "-f", role)
    assert ran.code == 1
    assert "  granted  list, watch configmaps everywhere, by ClusterRoleBinding jenkins-binding2\n" in ran.out
    assert "  missing  list, watch deployments.apps everywhere\n" in ran.out
    assert "  error  missing-right\n    It may not list and watch deployments.apps at the cluster scope" in ran.out
    in_one = run("rbac", "doctor", "jenkins", program, "-f", role, "--watch-namespace", "web")
    assert "  missing  list, watch deployments.apps in namespace web\n" in in_one.out


@pytest.mark.parametrize("example", ["evc", "podset", "sampledb"])
def test_generated_manifests_have_no_problem(run: Run, example: str) -> None:
    """The roles that pyctrl deploys are no problem, and all files that it generates are read."""
    ran = run("rbac", "doctor", "-f", EXAMPLES / example / "config")
    assert (ran.code, ran.err) == (0, "")
    assert "warning" not in ran.out
    assert "Could not be read" not in ran.out
