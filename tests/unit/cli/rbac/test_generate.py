"""`pyctrl rbac generate`: the roles of a program."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
import yaml

from tests.unit.cli.conftest import Run

PROGRAM = """
    from pyctrl import Builder, CustomResource, Model, Reconciler, allow
    from pyctrl.kinds.core.v1 import Secret
    from pyctrl.manager import InMemoryProvider


    class Vault(CustomResource[Model, Model], group="example.com", version="v1"):
        pass


    class VaultReconciler(Reconciler[Vault]):
        rbac = (allow(Secret, "create", "delete"),)

        async def reconcile(self, request):
            pass


    def add_vault(host, strict=False):
        Builder(host).reconciles(Vault).build(VaultReconciler())


    def with_a_fleet(manager):
        add_vault(manager)
        fleet = manager.add_fleet("edge", InMemoryProvider(), namespaces=["web"])
        Builder(fleet).reconciles(Secret).options(name="secrets").build_each(VaultReconciler)


    def add_broken(host):
        raise ValueError("half of it is missing")
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    file = tmp_path / "vault_operator.py"
    file.write_text(textwrap.dedent(PROGRAM))
    return file


def test_roles_follow_from_the_program(run: Run, program: Path) -> None:
    """The output has a ClusterRole with watched and declared permissions, bound to the account."""
    ran = run("rbac", "generate", f"{program}:add_vault", "--service-account", "ops:vault")
    assert (ran.code, ran.err) == (0, "")
    account, role, binding = yaml.safe_load_all(ran.out)
    assert account["metadata"] == {"name": "vault", "namespace": "ops"}
    assert role["metadata"] == {"name": "vault-operator"}
    assert role["rules"] == [
        {"apiGroups": [""], "resources": ["secrets"], "verbs": ["create", "delete"]},
        {"apiGroups": ["example.com"], "resources": ["vaults"], "verbs": ["list", "watch"]},
    ]
    assert binding["roleRef"]["name"] == "vault-operator"
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "vault", "namespace": "ops"}]


def test_a_program_that_elects_has_its_lease(run: Run, program: Path) -> None:
    """With leader election, a Role of the namespace permits creating Leases and updating the program's own."""
    arguments = ("--service-account", "ops:vault", "--leader-election-id", "vault-operator")
    ran = run("rbac", "generate", f"{program}:add_vault", *arguments)
    roles = [document for document in yaml.safe_load_all(ran.out) if document["kind"] == "Role"]
    assert [role["metadata"]["namespace"] for role in roles] == ["ops"]
    leases = [rule for rule in roles[0]["rules"] if rule["resources"] == ["leases"]]
    assert [(rule.get("resourceNames"), rule["verbs"]) for rule in leases] == [
        (None, ["create"]),
        (["vault-operator"], ["get", "update"]),
    ]


def test_a_program_with_shards_has_the_leases_of_all_replicas(run: Run, program: Path) -> None:
    """With shards, a Role of the namespace permits all that replicas do with their Leases, whose names vary."""
    arguments = ("--service-account", "ops:vault", "--shards", "auto")
    for lease in ((), ("--leader-election-id", "vault-operator")):
        ran = run("rbac", "generate", f"{program}:add_vault", *arguments, *lease)
        (role,) = [document for document in yaml.safe_load_all(ran.out) if document["kind"] == "Role"]
        assert role["metadata"]["namespace"] == "ops"
        leases = [rule for rule in role["rules"] if rule["resources"] == ["leases"]]
        assert [(rule.get("resourceNames"), rule["verbs"]) for rule in leases] == [
            (None, ["create", "delete", "get", "list", "update"])
        ]


def test_replicas_that_cache_their_own_objects_get_and_label_them(run: Run, program: Path) -> None:
    """With ``--shard-memory`` the roles permit to get what is reconciled, with ``label`` also to patch it."""
    for mode, added in (("off", set[str]()), ("auto", {"get"}), ("label", {"get", "patch"})):
        ran = run("rbac", "generate", f"{program}:add_vault", "--shards", "auto", "--shard-memory", mode)
        rules = [
            rule
            for document in yaml.safe_load_all(ran.out)
            if document["kind"] == "ClusterRole"
            for rule in document["rules"]
            if "vaults" in rule["resources"]
        ]
        assert {verb for rule in rules for verb in rule["verbs"]} & {"get", "patch"} == added


def test_a_program_without_a_manager_says_what_it_needs(run: Run) -> None:
    """An object with `rbac`, such as a web service without a manager, has its roles printed."""
    ran = run("rbac", "generate", "examples.inventory.inventory:Inventory", "--service-account", "testing:inventory")
    assert (ran.code, ran.err) == (0, "")
    kinds = [each["kind"] for each in yaml.safe_load_all(ran.out)]
    assert kinds == ["ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"]


def test_a_restricted_program_has_roles_in_its_namespaces(run: Run, program: Path) -> None:
    """With namespaces, the output has a Role in each of them, and no ClusterRole."""
    ran = run("rbac", "generate", f"{program}:add_vault", "--watch-namespace", "web,shop", "--name", "v")
    found = [(each["kind"], each["metadata"]) for each in yaml.safe_load_all(ran.out)]
    assert found == [("Role", {"name": "v", "namespace": "shop"}), ("Role", {"name": "v", "namespace": "web"})]


@pytest.mark.parametrize(
    ("target", "line"),
    [
        ("{file}", "has several setup functions; name one of them: add_vault, add_broken"),
        ("{file}:add_none", "has no function 'add_none'; it has add_vault, add_broken"),
        ("{file}:add_broken", "add_broken failed: ValueError: half of it is missing"),
        ("nowhere.operator:add", "no module 'nowhere', seen from"),
        ("examples.podset.nothing:add", "no module 'examples.podset.nothing', seen from"),
        ("missing.py:add", "no such file: missing.py"),
        ("textwrap", "textwrap has no reconciler class, and no function whose name begins with 'add_'; write class"),
    ],
)
def test_a_target_that_is_none_is_one_line(run: Run, program: Path, target: str, line: str) -> None:
    """An import or setup error is one line with the alternatives, or has an excerpt."""
    ran = run("rbac", "generate", target.format(file=program))
    assert (ran.code, ran.out, ran.err.partition("\n  --> ")[0].rstrip("\n").count("\n")) == (1, "", 0)
    assert line in ran.err


def test_an_account_is_named_with_its_namespace(run: Run, program: Path) -> None:
    """An account without a namespace is refused before anything is printed."""
    ran = run("rbac", "generate", f"{program}:add_vault", "--service-account", "jenkins")
    assert (ran.code, ran.out) == (1, "")
    assert "NAMESPACE:NAME, such as default:jenkins; got 'jenkins'" in ran.err


def test_each_cluster_has_roles_of_its_own(run: Run, program: Path) -> None:
    """The roles of the home cluster and of a fleet are printed separately; an unknown cluster is an error."""
    alone = run("rbac", "generate", f"{program}:add_vault")
    home = run("rbac", "generate", f"{program}:with_a_fleet")
    assert home.out == alone.out
    edge = run("rbac", "generate", f"{program}:with_a_fleet", "--cluster", "edge")
    (role,) = yaml.safe_load_all(edge.out)
    assert (role["kind"], role["metadata"]) == ("Role", {"name": "secrets-operator", "namespace": "web"})
    assert role["rules"] == [
        {"apiGroups": [""], "resources": ["secrets"], "verbs": ["create", "delete", "list", "watch"]}
    ]
    lost = run("rbac", "generate", f"{program}:with_a_fleet", "--cluster", "mars")
    assert (lost.code, "there is no cluster 'mars'" in lost.err) == (1, True)
