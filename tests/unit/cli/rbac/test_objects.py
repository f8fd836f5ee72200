"""Objects that `pyctrl rbac doctor` reads, from files and clusters."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from tests.unit.cli._command import apiserver
from tests.unit.cli.conftest import Run
from tests.unit.rbac import _seeds as seeds


def _token(**claims: str) -> str:
    parts = ({"alg": "RS256"}, claims)
    return ".".join(
        [*(base64.urlsafe_b64encode(json.dumps(each).encode()).decode().rstrip("=") for each in parts), "c2ln"]
    )


@pytest.fixture
def role(tmp_path: Path) -> Path:
    """Files with the Role, its binding to a user, the Secret and the Deployment of an example."""
    file = tmp_path / "role.yaml"
    file.write_text(f"{seeds.SECRET}---{seeds.ROLE}---{seeds.FOR_USER}---{seeds.DEPLOYMENT}")
    return file


def test_tokens_are_found_in_programs_and_objects(run: Run, tmp_path: Path) -> None:
    """A token in a source file or an object is reported with its account, and never printed."""
    token = _token(sub="system:serviceaccount:default:jenkins")
    (tmp_path / "evc.py").write_text(f"import kopf\n\ntoken = '{token}'\n")
    deployment = seeds.DEPLOYMENT.rstrip() + f"\n        env:\n        - {{name: TOKEN, value: {token}}}\n"
    (tmp_path / "deployment.yaml").write_text(deployment)
    ran = run("rbac", "doctor", "-f", tmp_path)
    assert ran.code == 0
    assert f"{tmp_path / 'evc.py'}, line 3\n  warning  token-in-text" in ran.out
    assert "of system:serviceaccount:default:jenkins, which never expires" in " ".join(ran.out.split())
    assert "spec.template.spec.containers[0].env[0].value contains a token in plain text" in " ".join(ran.out.split())
    assert token not in ran.out


def test_what_is_no_object_is_told_and_passed_over(run: Run, tmp_path: Path) -> None:
    """Templates and settings in a directory are skipped, and reported."""
    (tmp_path / "values.yaml").write_text("replicas: 3\n")
    (tmp_path / "template.yaml").write_text("kind: {{ .Values.kind }}\n")
    (tmp_path / "broken.yaml").write_text(seeds.ROLE.partition("rules:")[0] + "rules: everything\n")
    (tmp_path / "role.yaml").write_text(seeds.ROLE)
    ran = run("rbac", "doctor", "-f", tmp_path)
    assert ran.code == 0
    assert f"{tmp_path / 'broken.yaml'}, document 1: " in ran.out
    assert f"{tmp_path / 'values.yaml'}, document 1: not an object with apiVersion, kind and metadata" in ran.out
    assert f"{tmp_path / 'template.yaml'}: " in ran.out


@pytest.mark.slow("starts a process, which takes up to a second")
def test_it_reads_a_cluster_as_far_as_it_may(run: Run, tmp_path: Path) -> None:
    """Without permissions, the doctor lists the kinds that it could not read, without a traceback."""
    tokens, role, kubeconfig = tmp_path / "tokens.csv", tmp_path / "role.yaml", tmp_path / "kubeconfig"
    tokens.write_text("admin-token,admin,admin,system:masters\nplain-token,plain,plain\n")
    role.write_text(f"{seeds.JENKINS}---{seeds.ROLE}---{seeds.FOR_USER}")
    flags = ("--insecure-http", "--no-kubelet", "--token-auth-file", tokens, "--write-kubeconfig", kubeconfig)
    with apiserver(*flags, "--apply", role):
        ran = run("rbac", "doctor", "default:jenkins", "--kubeconfig", kubeconfig)
        assert ran.code == 1
        assert "kubectl delete rolebinding jenkins-binding --namespace=default" in ran.out
        few = run("rbac", "doctor", "default:jenkins", "--kubeconfig", kubeconfig, "--as", "plain")
    assert (few.code, few.err) == (0, "")
    assert "Could not be read" in few.out
    assert "  RoleBindings: rolebindings.rbac.authorization.k8s.io is forbidden" in few.out
