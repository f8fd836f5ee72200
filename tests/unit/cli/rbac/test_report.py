"""Report of `pyctrl rbac doctor` as text and JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Run
from tests.unit.rbac import _seeds as seeds


@pytest.fixture
def role(tmp_path: Path) -> Path:
    """Files with the Role, its binding to a user, the Secret and the Deployment of an example."""
    file = tmp_path / "role.yaml"
    file.write_text(f"{seeds.SECRET}---{seeds.ROLE}---{seeds.FOR_USER}---{seeds.DEPLOYMENT}")
    return file


def test_it_tells_by_object_what_is_wrong_and_what_mends_it(run: Run, role: Path) -> None:
    """Each object is listed once with its source, findings and fixes, without colours outside a terminal."""
    ran = run("rbac", "doctor", "-f", role)
    assert (ran.code, ran.err) == (1, "")
    blocks = ran.out.split("\n\n")
    assert blocks[0].splitlines()[:2] == [
        f"Deployment default/evc-operator  ({role}, document 4)",
        "  error  runs-as-default",
    ]
    assert blocks[1].splitlines()[:2] == [
        f"RoleBinding default/jenkins-binding  ({role}, document 3)",
        "  error  user-for-account",
    ]
    assert "    fix:\n      apiVersion: rbac.authorization.k8s.io/v1\n" in blocks[1]
    assert blocks[-1] == "2 errors, 2 warnings\n"
    assert "\x1b" not in ran.out
    assert max(map(len, ran.out.replace(str(role), "role.yaml").splitlines())) <= 110


def test_programs_read_json(run: Run, role: Path) -> None:
    """-o json has the same findings and exit code."""
    ran = run("rbac", "doctor", "jenkins", "-f", role, "-o", "json")
    told = json.loads(ran.out)
    assert ran.code == 1
    assert told["accounts"] == {"default/jenkins": []}
    assert (told["needs"], told["unread"]) == ([], [])
    found = {each["code"]: each for each in told["findings"]}
    assert found["user-for-account"]["severity"] == "error"
    assert found["user-for-account"]["object"] == {
        "kind": "RoleBinding",
        "namespace": "default",
        "name": "jenkins-binding",
        "source": f"{role}, document 3",
    }
    assert "serviceAccountName: jenkins" in found["runs-as-default"]["cure"]


def test_names_do_not_write_on_the_terminal(run: Run, tmp_path: Path) -> None:
    """Control characters in names are escaped, also in fixes."""
    role = tmp_path / "role.yaml"
    role.write_text(seeds.ROLE.replace("name: evc-operator", 'name: "evc\\e[2J\\u202eop"'))
    ran = run("rbac", "doctor", "-f", role)
    assert "Role default/evc\\u001b[2J\\u202eop" in ran.out
    assert "\x1b" not in ran.out
