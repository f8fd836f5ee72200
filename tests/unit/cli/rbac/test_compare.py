"""Tests of `pyctrl rbac compare` and `generate --recorded`."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest
import yaml

from pyctrl.api import Access
from pyctrl.rbac import RecordedAccess, write_recording
from tests.unit.cli.conftest import Run

PROGRAM = """
    from pyctrl import Builder, Reconciler, allow
    from pyctrl.kinds.core.v1 import ConfigMap, Secret


    class Copier(Reconciler[ConfigMap]):
        rbac = (allow(Secret, "create", "delete"),)

        async def reconcile(self, request):
            pass


    def add_copier(host):
        Builder(host).reconciles(ConfigMap).build(Copier())
"""
ROLES = """
    kind: ClusterRole
    apiVersion: rbac.authorization.k8s.io/v1
    metadata: {name: copier}
    rules:
    - {apiGroups: [""], resources: [configmaps], verbs: ["*"]}
    ---
    kind: RoleBinding
    apiVersion: rbac.authorization.k8s.io/v1
    metadata: {name: copier, namespace: web}
    roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: copier}
    subjects: [{kind: ServiceAccount, name: copier, namespace: web}]
    ---
    kind: Role
    apiVersion: rbac.authorization.k8s.io/v1
    metadata: {name: copier, namespace: web}
    rules:
    - {apiGroups: [""], resources: [secrets], verbs: [create]}
"""


def asked(verb: str, resource: str, namespace: str = "", by: str = "") -> RecordedAccess:
    return RecordedAccess(access=Access(verb, "", resource, "", namespace), first_by=by)


WATCHING = [asked("list", "configmaps"), asked("watch", "configmaps")]
COPYING = [asked("create", "secrets", "test-1", "test_copy"), asked("delete", "secrets", "test-1")]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program, roles, and recordings of two runs of tests, in the working directory."""
    monkeypatch.chdir(tmp_path)
    Path("copier.py").write_text(textwrap.dedent(PROGRAM))
    Path("roles.yaml").write_text(textwrap.dedent(ROLES))
    Path("one.json").write_text(write_recording(WATCHING))
    Path("two.json").write_text(write_recording(COPYING))


pytestmark = pytest.mark.usefixtures("files")


def test_several_recordings_count_as_one(run: Run) -> None:
    """A permission is used if one recording has it; equal permissions are reported as such."""
    ran = run("rbac", "compare", "copier.py", "one.json", "two.json", "--strict")
    assert (ran.code, ran.out) == (0, "nothing is missing, and nothing is unused\n")


def test_what_is_unused_fails_strict_comparisons_only(run: Run) -> None:
    """Unused permissions are reported, but fail the command only with --strict."""
    ran = run("rbac", "compare", "copier.py:add_copier", "one.json")
    unused = [f"unused: {verb} secrets at the cluster scope" for verb in ("create", "delete")]
    assert (ran.code, ran.out.splitlines()) == (0, unused)
    assert run("rbac", "compare", "copier.py", "one.json", "--strict").code == 1


def test_roles_of_a_file_count_where_they_are_bound(run: Run) -> None:
    """A ClusterRole bound in a namespace grants nothing elsewhere; its wildcard is listed with its uses."""
    ran = run("rbac", "compare", "--role", "roles.yaml", "one.json", "two.json")
    assert (ran.code, ran.err) == (1, "")
    assert ran.out.splitlines() == [
        "missing: delete secrets in some namespace (requested once)",
        "missing: list configmaps at the cluster scope (requested once)",
        "missing: watch configmaps at the cluster scope (requested once)",
        "wildcard: * configmaps in namespace 'web' (used: nothing)",
    ]


def test_programs_read_the_same(run: Run) -> None:
    """As JSON each permission has the fields of an access review."""
    ran = run("rbac", "compare", "--role", "roles.yaml", "one.json", "two.json", "-o", "json")
    told = json.loads(ran.out)
    assert (ran.code, len(told["missing"]), told["unused"]) == (1, 3, [])
    assert {"verb": "list", "group": "", "resource": "configmaps"}.items() <= told["missing"][1].items()
    assert told["wildcards"] == [
        {"verb": "*", "group": "", "resource": "configmaps", "namespace": "web", "used": []},
    ]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "name what to compare: PROGRAM RECORDING..."),
        (["copier.py"], "name what to compare: PROGRAM RECORDING..."),
        (["copier.py", "three.json"], "three.json: No such file or directory"),
        (["copier.py", "roles.yaml"], "roles.yaml is not a recording written by pytest --rbac-record"),
        (["--role", "three.yaml", "one.json"], "three.yaml: No such file or directory"),
        (["--role", "one.json", "one.json"], "one.json, document 1: the object has no apiVersion"),
    ],
)
def test_what_cannot_be_compared_is_one_line(run: Run, arguments: list[str], line: str) -> None:
    """The error is one line with the file or the missing arguments."""
    ran = run("rbac", "compare", *arguments)
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert line in ran.err


def test_the_least_role_of_a_recording(run: Run) -> None:
    """The roles have exactly the recorded requests; with a namespace, some become a Role there."""
    ran = run(
        "rbac",
        "generate",
        "--recorded",
        "one.json",
        "--recorded",
        "two.json",
        "--watch-namespace",
        "web",
        "--name",
        "copier",
    )
    everywhere, there = yaml.safe_load_all(ran.out)
    assert (everywhere["kind"], everywhere["rules"]) == (
        "ClusterRole",
        [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "watch"]}],
    )
    assert there["metadata"] == {"name": "copier", "namespace": "web"}
    assert there["rules"] == [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["create", "delete"]}]


@pytest.mark.parametrize("arguments", [[], ["copier.py", "--recorded", "one.json"]])
def test_roles_are_of_a_program_or_of_a_recording(run: Run, arguments: list[str]) -> None:
    """The error says that a program or a recording is required, but not both."""
    ran = run("rbac", "generate", *arguments)
    assert (ran.code, ran.out) == (1, "")
    assert "name a program, such as MODULE:FUNCTION, or a recording with --recorded FILE" in ran.err
