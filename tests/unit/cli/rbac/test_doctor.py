"""Tests of `pyctrl rbac doctor`: text, JSON and exit codes."""

from __future__ import annotations

import base64
import json
import textwrap
from pathlib import Path

import pytest

from tests.unit.cli._command import apiserver
from tests.unit.cli.conftest import Run
from tests.unit.rbac import _seeds as seeds

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


def _token(**claims: str) -> str:
    parts = ({"alg": "RS256"}, claims)
    return ".".join(
        [*(base64.urlsafe_b64encode(json.dumps(each).encode()).decode().rstrip("=") for each in parts), "c2ln"]
    )


@pytest.fixture
def role(tmp_path: Path) -> Path:
    """The seed's files: the role, the binding to a user, the secret, the Deployment."""
    file = tmp_path / "role.yaml"
    file.write_text(f"{seeds.SECRET}---{seeds.ROLE}---{seeds.FOR_USER}---{seeds.DEPLOYMENT}")
    return file


def test_it_tells_by_object_what_is_wrong_and_what_mends_it(run: Run, role: Path) -> None:
    """Each object is listed once with its source, findings and fixes; no colours without a terminal."""
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
    """-o json has the same, and the exit code is the same."""
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


def test_it_looks_at_one_account_if_asked(run: Run, role: Path) -> None:
    """Findings of other accounts are left out; an account without permissions is reported."""
    ran = run("rbac", "doctor", "other:robot", "-f", role)
    assert ran.code == 0
    assert ran.out == "ServiceAccount other/robot\n  has nothing: no binding names it\n\nnothing found\n"


@pytest.mark.parametrize(
    "name", ["jenkins", "default:jenkins", "default/jenkins", "system:serviceaccount:default:jenkins"]
)
def test_an_account_is_named_as_people_do(run: Run, role: Path, name: str) -> None:
    """All of these are the same account."""
    assert run("rbac", "doctor", name, "-f", role).out.startswith("ServiceAccount default/jenkins\n")


def test_the_namespace_of_what_names_none(run: Run, role: Path) -> None:
    """-n says where files without a namespace are meant to be, as for kubectl."""
    told = json.loads(run("rbac", "doctor", "-f", role, "-n", "ci", "-o", "json").out)
    places = {each["object"]["kind"]: each["object"].get("namespace") for each in told["findings"]}
    assert places["Secret"] == "ci"


def test_it_says_what_grants_each_right_of_a_program(run: Run, tmp_path: Path) -> None:
    """With a program, each permission is granted by a binding, or an error."""
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


def test_tokens_are_found_in_programs_and_objects(run: Run, tmp_path: Path) -> None:
    """000.15: a token in a source file or an object is reported with its account, and never printed."""
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
    """A directory may have templates and settings, too."""
    (tmp_path / "values.yaml").write_text("replicas: 3\n")
    (tmp_path / "template.yaml").write_text("kind: {{ .Values.kind }}\n")
    (tmp_path / "broken.yaml").write_text(seeds.ROLE.partition("rules:")[0] + "rules: everything\n")
    (tmp_path / "role.yaml").write_text(seeds.ROLE)
    ran = run("rbac", "doctor", "-f", tmp_path)
    assert ran.code == 0
    assert f"{tmp_path / 'broken.yaml'}, document 1: " in ran.out
    assert f"{tmp_path / 'values.yaml'}, document 1: not an object with apiVersion, kind and metadata" in ran.out
    assert f"{tmp_path / 'template.yaml'}: " in ran.out


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("-f", "nowhere.yaml"), "nowhere.yaml: No such file or directory"),
        (("-f", "."), "no object in ."),
        (
            ("a:b:c", "-f", "."),
            "expected a service account, NAME or NAMESPACE:NAME, such as default:jenkins; got 'a:b:c'",
        ),
    ],
)
def test_what_cannot_be_examined_is_one_line(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], why: str
) -> None:
    """Files that are not there, directories without objects, and names that are none."""
    monkeypatch.chdir(tmp_path)
    ran = run("rbac", "doctor", *arguments)
    assert (ran.code, ran.out, ran.err) == (1, "", f"pyctrl: {why}\n")


@pytest.mark.slow("starts a process, which takes up to a second")
def test_it_reads_a_cluster_as_far_as_it_may(run: Run, tmp_path: Path) -> None:
    """Without permissions, the doctor lists what it could not read, without a traceback."""
    tokens, role, kubeconfig = tmp_path / "tokens.csv", tmp_path / "role.yaml", tmp_path / "kubeconfig"
    tokens.write_text("admin-token,admin,admin,system:masters\nplain-token,plain,plain\n")
    role.write_text(f"{seeds.JENKINS}---{seeds.ROLE}---{seeds.FOR_USER}")
    flags = ("--insecure-http", "--no-kubelet", "--token-auth-file", tokens, "--kubeconfig-out", kubeconfig)
    with apiserver(*flags, "--load", role):
        ran = run("rbac", "doctor", "default:jenkins", "--kubeconfig", kubeconfig)
        assert ran.code == 1
        assert "kubectl delete rolebinding jenkins-binding --namespace=default" in ran.out
        few = run("rbac", "doctor", "default:jenkins", "--kubeconfig", kubeconfig, "--as", "plain")
    assert (few.code, few.err) == (0, "")
    assert "Could not be read" in few.out
    assert "  RoleBindings: rolebindings.rbac.authorization.k8s.io is forbidden" in few.out


def test_names_do_not_write_on_the_terminal(run: Run, tmp_path: Path) -> None:
    """Control characters in names are escaped, also in fixes."""
    role = tmp_path / "role.yaml"
    role.write_text(seeds.ROLE.replace("name: evc-operator", 'name: "evc\\e[2J\\u202eop"'))
    ran = run("rbac", "doctor", "-f", role)
    assert "Role default/evc\\u001b[2J\\u202eop" in ran.out
    assert "\x1b" not in ran.out
