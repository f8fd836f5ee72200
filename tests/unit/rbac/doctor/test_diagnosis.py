"""Findings of the doctor besides the pitfalls of the seeds; objects as YAML."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
import yaml

from pyctrl.api import Key, ObjectMeta
from pyctrl.apiserver import User
from pyctrl.cli._rbac.objects import read_cluster
from pyctrl.client import Client
from pyctrl.cluster import Cluster
from pyctrl.kinds.rbac.v1 import PolicyRule, Role, RoleBinding, RoleRef, Subject
from pyctrl.rbac import Diagnosis, Finding, ServedResource, diagnose
from tests.unit.rbac import _seeds as seeds
from tests.unit.rbac._seeds import Object, parsed

RBAC = "rbac.authorization.k8s.io"
BOT = {"kind": "ServiceAccount", "name": "bot", "namespace": "web"}
EVERY_KIND = {
    kind: frozenset(("",)) for kind in ("Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding", "ServiceAccount")
}


def role(*rules: Object, name: str = "bot", namespace: str = "", **more: Any) -> Object:
    """Make a role of the cluster or of a namespace."""
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    kind = "Role" if namespace else "ClusterRole"
    return {"apiVersion": f"{RBAC}/v1", "kind": kind, "metadata": metadata, "rules": list(rules), **more}


def rule(resources: str, verbs: str = "get list watch", group: str | None = "", **more: Any) -> Object:
    """Make a rule."""
    groups = {} if group is None else {"apiGroups": [group]}
    return {**groups, "resources": resources.split(), "verbs": verbs.split(), **more}


def binding(*subjects: Object, to: str = "ClusterRole/bot", name: str = "bot", namespace: str = "") -> Object:
    """Make a binding of the cluster or of a namespace."""
    kind, _, bound = to.partition("/")
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "RoleBinding" if namespace else "ClusterRoleBinding",
        "metadata": metadata,
        "roleRef": {"apiGroup": RBAC, "kind": kind, "name": bound},
        "subjects": list(subjects),
    }


def account(name: str = "bot", namespace: str = "web", **more: Any) -> Object:
    """Make a service account."""
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": namespace}, **more}


def deployment(name: str = "bot", namespace: str = "web", **spec: Any) -> Object:
    """Make a Deployment."""
    template = {"spec": {"containers": [], **spec}}
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": {"template": template}}


def examine(*objects: Object, is_cluster: bool = False, **options: Any) -> Diagnosis:
    """Examine objects as files or as a complete cluster."""
    if is_cluster:
        return diagnose([(obj, "") for obj in objects], complete=EVERY_KIND, **options)
    return diagnose([(obj, "file.yaml") for obj in objects], **options)


def found(*objects: Object, **options: Any) -> list[tuple[str, str]]:
    """Return the findings by severity and code."""
    return [(each.severity, each.code) for each in examine(*objects, **options).findings]


def the_finding(*objects: Object, **options: Any) -> Finding:
    """Return the only finding."""
    findings = examine(*objects, **options).findings
    assert len(findings) == 1, findings
    return findings[0]


# --- subjects ---


@pytest.mark.parametrize(
    ("subject", "code", "told"),
    [
        ({"kind": "User", "name": "web:bot"}, "user-for-account", "ServiceAccount web/bot"),
        ({"kind": "User", "name": "web/bot"}, "user-for-account", "ServiceAccount web/bot"),
        ({"kind": "User", "name": "bot"}, "user-for-account", "ServiceAccount web/bot"),
        ({"kind": "Group", "name": "bot"}, "group-for-account", "such a group"),
        ({"kind": "User", "name": "system:serviceaccount:bot"}, "malformed-user", "NAMESPACE:NAME"),
        (
            {"kind": "Group", "name": "system:serviceaccount:web:bot"},
            "wrong-subject-kind",
            "it is the user name of ServiceAccount web/bot",
        ),
        ({"kind": "User", "name": "system:serviceaccounts:web"}, "wrong-subject-kind", "name of a group"),
        ({"kind": "ServiceAccount", "name": "bot", "namespace": "wbe"}, "account-in-other-namespace", "namespace web"),
        (
            {"kind": "ServiceAccount", "name": "bοt", "namespace": "web"},
            "account-not-found",
            "U+03BF GREEK SMALL LETTER OM",
        ),
        (
            {"kind": "ServiceAccount", "name": "web:bot", "namespace": "web"},
            "malformed-account",
            "the namespace is a separate field",
        ),
        ({"kind": "ServiceAccount", "name": "bot"}, "subject-without-namespace", "needs a namespace"),
        ({**BOT, "apiGroup": RBAC}, "subject-api-group", "remove it"),
        ({"kind": "Robot", "name": "bot"}, "unknown-subject", "not User, Group or ServiceAccount"),
    ],
)
def test_subjects_that_nobody_is(subject: Object, code: str, told: str) -> None:
    """Each wrong subject is reported with its cause, and with the account to use if there is one."""
    finding = the_finding(role(rule("pods")), account(), binding(subject))
    assert (finding.severity, finding.code) == ("error", code)
    assert told in finding.message
    if code not in ("malformed-user", "unknown-subject", "wrong-subject-kind"):
        assert yaml.safe_load(finding.fix)["subjects"] == [BOT]


@pytest.mark.parametrize(
    "subject",
    [
        BOT,
        {"kind": "User", "name": "system:serviceaccount:web:bot"},
        {"kind": "Group", "name": "system:serviceaccounts:web"},
        {"kind": "User", "name": "jane"},
        {"kind": "ServiceAccount", "name": "default", "namespace": "web"},
    ],
)
def test_subjects_that_somebody_is(subject: Object) -> None:
    """The user name of a service account and a user without an account of that name are accepted."""
    assert found(role(rule("pods")), account(), binding(subject)) == []


def test_a_role_binding_need_not_say_the_namespace() -> None:
    """A ServiceAccount without a namespace in a RoleBinding is in the binding's namespace."""
    subject = {"kind": "ServiceAccount", "name": "bot"}
    objects = role(rule("pods"), namespace="web"), account(), binding(subject, to="Role/bot", namespace="web")
    diagnosis = examine(*objects, account=Key("web", "bot"))
    assert diagnosis.findings == ()
    assert len(diagnosis.accounts[Key("web", "bot")]) == 1


def test_a_slip_that_another_binding_makes_good_is_a_warning() -> None:
    """A user in place of an account is a warning if another binding grants the account the same."""
    slip = binding({"kind": "User", "name": "bot"}, name="slip")
    assert found(role(rule("pods")), account(), binding(BOT), slip) == [("warning", "user-for-account")]


def test_an_account_that_is_nowhere() -> None:
    """A missing account is an error in a cluster and accepted in files."""
    objects = role(rule("pods")), binding(BOT)
    assert found(*objects) == [("warning", "account-not-found")]
    finding = the_finding(*objects, is_cluster=True)
    assert finding.severity == "error"
    assert finding.fix == "kubectl create serviceaccount bot --namespace=web"


@pytest.mark.parametrize("name", ["system:authenticated", "system:unauthenticated"])
def test_rights_for_everybody(name: str) -> None:
    """A binding to a group of all users is reported."""
    group = {"kind": "Group", "name": name}
    assert found(role(rule("pods")), binding(group)) == [("warning", "everybody")]


def test_a_binding_for_nobody() -> None:
    """A binding without subjects is reported."""
    assert found(role(rule("pods")), binding()) == [("warning", "no-subjects")]


# --- roles that are bound ---


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("bot ", "U+0020 SPACE"),
        ("Bot", "differ in upper and lower case"),
        ("b\u043et", "U+043E CYRILLIC SMALL LETTER O"),
        ("ｂｏｔ", "U+FF42 FULLWIDTH LATIN SMALL LETTER B"),
        ("bot\u200b", "U+200B ZERO WIDTH SPACE"),
    ],
)
def test_roles_that_look_alike(name: str, told: str) -> None:
    """A missing role is compared visually with existing ones, so that look-alike characters are found."""
    finding = the_finding(role(rule("pods")), account(), binding(BOT, to=f"ClusterRole/{name}"))
    assert (finding.severity, finding.code) == ("error", "role-not-found")
    assert told in finding.message
    assert yaml.safe_load(finding.fix)["roleRef"]["name"] == "bot"
    assert "a roleRef is immutable" in finding.fix


def test_a_role_that_is_spelled_otherwise() -> None:
    """A missing role is matched with an existing one that differs in one or two letters."""
    finding = the_finding(role(rule("pods"), name="reader"), account(), binding(BOT, to="ClusterRole/raeder"))
    assert "'reader' was probably meant" in finding.message


def test_a_role_of_another_namespace() -> None:
    """A RoleBinding to a Role of another namespace is reported."""
    objects = role(rule("pods"), namespace="shop"), account(), binding(BOT, to="Role/bot", namespace="web")
    assert "but there is one in namespace shop" in the_finding(*objects).message


def test_a_cluster_role_binding_names_cluster_roles_only() -> None:
    """A ClusterRoleBinding to a Role is reported, because the server rejects it."""
    assert found(role(rule("pods"), namespace="web"), account(), binding(BOT, to="Role/bot")) == [
        ("error", "role-not-found")
    ]


def test_roles_that_every_cluster_has_are_known() -> None:
    """Files may bind view, cluster-admin and system roles without defining them."""
    diagnosis = examine(account(), binding(BOT, to="ClusterRole/view"), account=Key("web", "bot"))
    assert diagnosis.findings == ()
    [holding] = diagnosis.accounts[Key("web", "bot")]
    assert holding.rules
    assert "secrets" not in {each for one in holding.rules for each in one.resources}


def test_a_cluster_role_bound_in_several_namespaces_is_deliberate() -> None:
    """One RoleBinding of a ClusterRole with list is a warning, several are a hint, and built-in roles are accepted."""
    watched = role(rule("pods"))
    one, two = binding(BOT, namespace="web"), binding(BOT, namespace="shop")
    assert found(watched, account(), one) == [("warning", "role-binding-of-cluster-role")]
    assert found(watched, account(), one, two) == [("hint", "role-binding-of-cluster-role")] * 2
    assert found(account(), binding(BOT, to="ClusterRole/view", namespace="web")) == []


def test_an_aggregated_role_has_the_rules_of_its_parts() -> None:
    """An aggregated role has the rules of the selected roles; its own rules in a file are overwritten."""
    selector = {"clusterRoleSelectors": [{"matchLabels": {"to": "bot"}}]}
    part = role(rule("pods"), name="part")
    part["metadata"]["labels"] = {"to": "bot"}
    objects = part, role(aggregationRule=selector), account(), binding(BOT)
    diagnosis = examine(*objects, account=Key("web", "bot"))
    assert diagnosis.findings == ()
    [holding] = diagnosis.accounts[Key("web", "bot")]
    assert holding.rules is not None
    assert [each.resources for each in holding.rules] == [("pods",)]
    assert found(part, role(rule("pods"), aggregationRule=selector)) == [("warning", "rules-overwritten")]
    assert found(role(aggregationRule=selector), is_cluster=True) == [("warning", "nothing-aggregated")]


# --- rules ---


@pytest.mark.parametrize(
    ("wrong", "code", "right"),
    [
        (rule("deployments"), "missing-api-group", [rule("deployments", group="apps")]),
        (rule("pods deployments"), "missing-api-group", [rule("pods"), rule("deployments", group="apps")]),
        (rule("deployments", group="apps/v1"), "wrong-api-group", [rule("deployments", group="apps")]),
        (rule("pods", group="core"), "wrong-api-group", [rule("pods")]),
        (rule("pods", group=None), "wrong-api-group", [rule("pods")]),
        (rule("jobs", group="bacth"), "wrong-api-group", [rule("jobs", group="batch")]),
        (rule("pod"), "not-a-plural", [rule("pods")]),
        (rule("Pods"), "not-a-plural", [rule("pods")]),
        (rule("Deployment"), "not-a-plural", [rule("deployments", group="apps")]),
        (rule("pvc"), "not-a-plural", [rule("persistentvolumeclaims")]),
        (rule("confgmaps"), "unknown-resource", [rule("configmaps")]),
        (rule("pods/logs", "get"), "unknown-subresource", [rule("pods/log", "get")]),
        (rule("pods", "read"), "unknown-verb", [rule("pods")]),
        (rule("pods", "GET LIST WATCH"), "unknown-verb", [rule("pods")]),
        (rule("pod", "red GET LIST WATCH"), "not-a-plural", [rule("pods", "red get list watch")]),
    ],
)
def test_rules_that_say_it_otherwise(wrong: Object, code: str, right: list[Object]) -> None:
    """The suggestion for a misspelled rule is the complete corrected rule."""
    findings = [each for each in examine(role(wrong)).findings if each.code == code]
    assert findings[0].severity == "error"
    assert yaml.safe_load(findings[0].fix) == right
    assert not {code for _, code in found(role(*right))} & {each.code for each in findings if each.fix}


@pytest.mark.parametrize(
    "right",
    [
        rule("pods/log", "get"),
        rule("pods/exec", "create"),
        rule("nodes/metrics", "get"),
        rule("podsets/finalizers", "update", group="example.com"),
        rule("podsets", group="example.com"),
        rule("users groups", "impersonate"),
        rule("signers", "approve", group="certificates.k8s.io"),
        rule("events", "create patch", group="events.k8s.io"),
        {"apiGroups": ["", "apps"], "resources": ["pods", "deployments"], "verbs": ["get"]},
        {"nonResourceURLs": ["/metrics"], "verbs": ["get"]},
        rule("*/scale", "get"),
    ],
)
def test_rules_that_are_right(right: Object) -> None:
    """Review resources, unknown groups and rules of several groups are accepted."""
    codes = {code for _, code in found(role(right))}
    assert codes <= {"wildcard", "escalation"}


def test_what_the_cluster_serves_decides() -> None:
    """In a cluster a group that is not served is reported, and a definition makes its resources known."""
    served = [ServedResource("example.com", "podsets", "PodSet", namespaced=True, singular="podset")]
    mistaken = role(rule("podset", group="example.com"), rule("other", group="else.where"))
    assert found(mistaken, is_cluster=True, served=served) == [
        ("error", "not-a-plural"),
        ("warning", "unknown-api-group"),
    ]


def test_a_status_that_the_definition_has_or_has_not() -> None:
    """Status permissions without a status subresource are reported, and writers without the needed ones, too."""
    evc, podset = parsed(seeds.EVC_DEFINITION)[0], parsed(seeds.PODSET_DEFINITION)[0]
    idle = role(rule("ephemeralvolumeclaims/status", "update", group="kopf.dev"))
    assert ("warning", "unknown-subresource") in found(evc, idle)
    writer = role(rule("podsets", "get list watch update", group="apps.jicki.cn"))
    assert found(podset, writer, account(), binding(BOT)) == [("warning", "status-not-writable")]
    whole = role(*writer["rules"], rule("podsets/status", "patch", group="apps.jicki.cn"))
    assert found(podset, whole, account(), binding(BOT)) == []


@pytest.mark.parametrize(
    ("verbs", "codes"),
    [
        ("get list", ["list-without-watch"]),
        ("get watch", ["watch-without-list"]),
        ("get", []),
        ("get list watch", []),
        ("get *", ["wildcard"]),
    ],
)
def test_an_informer_lists_and_watches(verbs: str, codes: list[str]) -> None:
    """List without watch, or watch without list, is reported."""
    assert [code for _, code in found(role(rule("pods", verbs)))] == codes


def test_names_that_nothing_has_yet() -> None:
    """`create` with names is an error; `list` with names is a hint."""
    never = the_finding(role(rule("configmaps", "get create", resourceNames=["a"])))
    assert (never.severity, never.code) == ("error", "names-never-match")
    assert yaml.safe_load(never.fix) == [rule("configmaps", "get", resourceNames=["a"]), rule("configmaps", "create")]
    assert found(role(rule("configmaps", "list watch", resourceNames=["a"]))) == [("hint", "names-need-selector")]


def test_a_role_of_a_namespace_does_not_reach_what_is_in_none() -> None:
    """Permissions for Nodes in a Role are reported; those for its own Namespace are not."""
    assert found(role(rule("nodes"), namespace="web")) == [("error", "cluster-rule-in-role")]
    assert found(role(rule("namespaces", "get"), namespace="web")) == []
    paths = {"nonResourceURLs": ["/metrics"], "verbs": ["get"]}
    assert found(role(paths, namespace="web")) == [("error", "cluster-rule-in-role")]


def test_rights_that_can_be_turned_into_others() -> None:
    """Permissions that allow privilege escalation are reported as hints with an explanation."""
    finding = the_finding(role(rule("clusterroles", "bind escalate", group=RBAC), rule("pods/exec", "create")))
    assert (finding.severity, finding.code) == ("hint", "escalation")
    assert "run commands in pods" in finding.message
    assert "bind any cluster role to any user" in finding.message


def test_a_role_whose_name_nobody_types() -> None:
    """A role name with unusual characters is reported also without a binding."""
    assert "U+3001 IDEOGRAPHIC COMMA" in the_finding(role(rule("pods"), name="bot、")).message


# --- what runs ---


def test_a_deployment_of_an_account_that_is_not_there() -> None:
    """A missing service account of a Deployment is reported with the intended account or a command that creates it."""
    finding = the_finding(account(), deployment(serviceAccountName="bott"), is_cluster=True)
    assert (finding.severity, finding.code) == ("error", "workload-account-not-found")
    assert finding.fix == "kubectl set serviceaccount deployment/bot bot --namespace=web"
    assert found(deployment(serviceAccountName="bot")) == [("warning", "workload-account-not-found")]
    assert found(account(), deployment(serviceAccount="bot")) == []  # the deprecated field


def test_a_deployment_that_needs_no_rights_is_left_alone() -> None:
    """A Deployment that runs as `default` is reported only if an account with permissions is unused."""
    reader = role(rule("pods")), account(), binding(BOT)
    used = deployment("other", serviceAccountName="bot")
    assert found(deployment()) == []
    assert found(*reader, used, deployment()) == []
    assert found(*reader, deployment()) == [("error", "runs-as-default")]


def test_a_cron_job_runs_as_an_account_too() -> None:
    """The suggestion for a CronJob is at its pod template."""
    spec: Object = {"jobTemplate": {"spec": {"template": {"spec": {}}}}}
    job = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "j", "namespace": "web"}, "spec": spec}
    finding = the_finding(role(rule("pods")), account(), binding(BOT), job)
    spec["jobTemplate"]["spec"]["template"]["spec"]["serviceAccountName"] = "bot"
    assert yaml.safe_load(finding.fix) == {"spec": spec}


def test_rights_without_a_token() -> None:
    """An account with permissions whose pods mount no token is reported, unless they mount one themselves."""
    reader = role(rule("pods")), binding(BOT)
    closed = account(automountServiceAccountToken=False)
    assert found(*reader, closed, deployment(serviceAccountName="bot")) == [("warning", "no-token")]
    assert found(*reader, closed, deployment(serviceAccountName="bot", automountServiceAccountToken=True)) == []
    own = {"projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}
    assert found(*reader, closed, deployment(serviceAccountName="bot", volumes=[own])) == []


# --- not everything may be read ---


@pytest.mark.virtual_time
async def test_what_may_not_be_read_is_told_and_the_rest_examined() -> None:
    """With permissions in one namespace a user gets its findings and a warning about what cannot be read."""
    async with (
        Cluster(random=Random(1), rbac=True, kubelet=False) as cluster,
        cluster.client() as admin,
        Client.connect(cluster.config_for(User(name="jane"))) as jane,
    ):
        rules = [PolicyRule(api_groups=["*"], resources=["*"], verbs=["list"])]
        metadata = ObjectMeta(name="reader", namespace="default")
        await admin.create(Role(metadata=metadata, rules=rules))
        bound = RoleRef(kind="Role", name="reader"), [Subject(kind="User", name="jane")]
        await admin.create(RoleBinding(metadata=metadata, role_ref=bound[0], subjects=bound[1]))
        lost = RoleRef(kind="ClusterRole", name="lost"), [Subject(kind="ServiceAccount", name="default")]
        await admin.create(
            RoleBinding(metadata=ObjectMeta(name="lost", namespace="default"), role_ref=lost[0], subjects=lost[1])
        )

        read = await read_cluster(jane, namespace="default", own_namespace="default")
        diagnosis = diagnose(read.objects, complete=read.complete, served=read.served)
    assert [each.split(":")[0] for each in sorted(read.unread)] == [
        "ClusterRoleBindings",
        "ClusterRoles",
        "CustomResourceDefinitions",
        "RoleBindings outside the namespace default",
        "Roles outside the namespace default",
        "ServiceAccounts outside the namespace default",
    ]
    [finding] = [each for each in diagnosis.findings if each.code == "role-not-found"]
    assert (finding.severity, finding.object.name) == ("warning", "lost")
    assert "There is no ClusterRole lost among the objects that were read" in finding.message
