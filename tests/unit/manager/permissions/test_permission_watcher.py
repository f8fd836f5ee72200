"""Rights at start, and rights that come and go: managers of a service account on a server with RBAC."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from copy import deepcopy
from typing import Any

import pytest

from pyctrl.api import Key, ObjectMeta, Unstructured
from pyctrl.client import Client, Config, InProcessTransport, MergePatch
from pyctrl.cluster import Cluster
from pyctrl.controller import Builder, Controller, ControllerState, Reconciler, Request
from pyctrl.errors import MissingPermissions, TerminalError
from pyctrl.kinds.core.v1 import ConfigMap, Secret, Service, ServiceAccount
from pyctrl.manager import Group, Manager, Preflight
from pyctrl.rbac import EVENTS, LEADER_ELECTION, Grants, Permission, allow, manifests
from pyctrl.testing import Answered, FaultyTransport, Rule

BOT = Key("default", "bot")
LATER = "failed requests are retried once it may"
ROLES = "rbac.authorization.k8s.io"


class Marker(Reconciler[Any]):
    """Marks each object, and keeps when it did."""

    def __init__(self, kind: type[Any], *rbac: Permission) -> None:
        self.kind = kind
        self.rbac = rbac or (allow(kind, "patch"),)
        self.marked: dict[str, float] = {}

    async def reconcile(self, request: Request) -> None:
        """Mark one object, unless it is of the cluster's own."""
        found = await self.client.find(self.kind, request.key)
        if found is not None and request.namespace == "default" and "test" in found.metadata.labels:
            await self.client.patch(found, MergePatch({"metadata": {"annotations": {"marked": "yes"}}}))
            self.marked.setdefault(request.name, now())


def now() -> float:
    return asyncio.get_running_loop().time()


class World:
    """A cluster with RBAC and one service account, whose rights come and go."""

    def __init__(self, cluster: Cluster, admin: Client) -> None:
        self.cluster, self.admin = cluster, admin
        self.config: Config = cluster.config_for_account(BOT)
        self._granted: list[dict[str, Any]] = []

    async def grant(self, granted: Grants) -> None:
        """Give the account exactly these rights."""
        await self.revoke()
        self._granted = manifests(granted, name="bot", account=BOT)
        for document in self._granted:
            await self.admin.create(Unstructured(deepcopy(document)))

    async def revoke(self) -> None:
        """Take its rights away."""
        for document in self._granted:
            await self.admin.delete(Unstructured(deepcopy(document)))
        self._granted = []

    async def create(self, kind: type[Any], name: str) -> None:
        """Create an object to be marked."""
        await self.admin.create(kind(metadata=ObjectMeta(name=name, namespace="default", labels={"test": "yes"})))


@asynccontextmanager
async def world() -> AsyncIterator[World]:
    async with Cluster(rbac=True, kubelet=False) as cluster, cluster.client() as admin:
        await admin.create(ServiceAccount(metadata=ObjectMeta(name=BOT.name, namespace=BOT.namespace)))
        yield World(cluster, admin)


def build(manager: Manager, kind: type[Any], *rbac: Permission) -> tuple[Controller, Marker]:
    marker = Marker(kind, *rbac)
    return Builder(manager).reconciles(kind).build(marker), marker


def only(manager: Manager, *resources: str) -> Grants:
    """Return those of a manager's rights that are about some resources."""
    rules = {
        namespace: tuple(atom for rule in rules for atom in rule.atoms() if atom.resources[0] in resources)
        for namespace, rules in manager.grants().rules.items()
    }
    return Grants(rules)


def warnings(caplog: pytest.LogCaptureFixture, logger: str = "pyctrl.manager") -> Sequence[str]:
    return [r.getMessage() for r in caplog.records if r.name == logger and r.levelname == "WARNING"]


async def test_nobody_waits_for_what_he_can_do_without(caplog: pytest.LogCaptureFixture) -> None:
    """A right that is not essential, as to write Events, is told of; the controller works and is ready without it."""
    caplog.set_level(logging.INFO)
    async with world() as it, Manager(it.config) as manager:
        controller, marker = build(manager, ConfigMap, allow(ConfigMap, "patch"), EVENTS)
        await it.grant(only(manager, "configmaps"))
        await it.create(ConfigMap, "one")
        async with manager.running():
            await asyncio.sleep(10)
            assert list(marker.marked) == ["one"]
            assert (controller.state, manager.not_ready) == (ControllerState.RUNNING, {})
            [told] = warnings(caplog)
            assert "may not create and patch events.events.k8s.io at the cluster scope, and continues without" in told
            await it.grant(manager.grants())
            await asyncio.sleep(60)
    assert any("Permission granted: create and patch events" in record.getMessage() for record in caplog.records)


async def test_what_is_missing_is_said_once_with_the_rule_and_the_commands(caplog: pytest.LogCaptureFixture) -> None:
    """One message for the verbs of a resource: which runnables wait, the rule for a role, and shell commands."""
    async with world() as it, Manager(it.config) as manager:
        build(manager, ConfigMap)
        async with manager.running():
            await asyncio.sleep(120)
        [told] = warnings(caplog)
        assert told == (
            "configmap may not list, patch and watch configmaps at the cluster scope, and waits until it may\n"
            "grant it with this rule, in a ClusterRole that is bound to system:serviceaccount:default:bot:\n"
            '  - apiGroups: [""]\n'
            '    resources: ["configmaps"]\n'
            '    verbs: ["list", "patch", "watch"]\n'
            "or with a separate role:\n"
            "  kubectl create clusterrole default:bot:configmaps:list-patch-watch --verb=list,patch,watch"
            " --resource=configmaps\n"
            "  kubectl create clusterrolebinding default:bot:configmaps:list-patch-watch"
            " --clusterrole=default:bot:configmaps:list-patch-watch --serviceaccount=default:bot"
        )


async def test_one_controller_waits_for_its_rights_and_the_other_runs() -> None:
    """It waits longer than any timeout, with the reason, and starts within the 30 s between two reviews."""
    async with world() as it, Manager(it.config) as manager:
        blocked, secrets = build(manager, Secret)
        free, maps = build(manager, ConfigMap)
        everything = manager.grants()
        await it.grant(only(manager, "configmaps"))
        await it.create(Secret, "s")
        await it.create(ConfigMap, "c")
        async with manager.running():
            await asyncio.sleep(600)
            assert (free.state, blocked.state) == (ControllerState.RUNNING, ControllerState.WAITING_FOR_RIGHTS)
            assert (list(maps.marked), list(secrets.marked)) == (["c"], [])
            assert manager.not_ready == {
                "secret": "waits for rights: it may not list secrets at the cluster scope, "
                "patch secrets at the cluster scope, watch secrets at the cluster scope"
            }
            begun = now()
            await it.grant(everything)
            while blocked.permissions.problem:
                await asyncio.sleep(0.1)
            assert now() < begun + 31
            await asyncio.sleep(0.1)  # the kind is listed at once, although its next try was half a minute away
            assert blocked.is_ready
            assert manager.not_ready == {}
            assert list(secrets.marked) == ["s"]


async def test_a_controller_does_not_work_with_half_of_its_rights() -> None:
    """It may list and watch, but not write: it does not even begin."""
    async with world() as it, Manager(it.config) as manager:
        controller, marker = build(manager, ConfigMap, allow(ConfigMap, "patch"), allow(Secret, "create"))
        await it.grant(only(manager, "configmaps"))
        await it.create(ConfigMap, "c")
        async with manager.running():
            await asyncio.sleep(60)
            assert controller.why_not_ready == "waits for rights: it may not create secrets at the cluster scope"
            assert controller.statistics().reconciles.success == 0
            await it.grant(manager.grants())
            await asyncio.sleep(32)
            assert list(marker.marked) == ["c"]


async def test_strict_ends_with_everything_that_is_missing() -> None:
    """`run` raises before any controller starts, and the error has all messages."""
    async with world() as it, Manager(it.config, preflight=Preflight.STRICT) as manager:
        build(manager, Secret)
        build(manager, ConfigMap)
        await it.grant(only(manager, "configmaps"))
        with pytest.raises(MissingPermissions, match="secret may not list, patch and watch secrets") as caught:
            await manager.run(handle_signals=False)
        assert "kubectl create clusterrolebinding default:bot:secrets:list-patch-watch" in str(caught.value)
        assert "configmaps" not in str(caught.value)


async def test_strict_is_content_with_rights_that_are_there() -> None:
    """A login that may do everything starts as ever."""
    async with world() as it, Manager(it.config, preflight=Preflight.STRICT) as manager:
        controller, _ = build(manager, ConfigMap)
        await it.grant(manager.grants())
        async with manager.running():
            await asyncio.sleep(1)
            assert controller.is_ready


UNAVAILABLE = [
    Answered(status=404, reason="NotFound"),
    Answered(status=403, reason="Forbidden"),
    Answered(status=500, reason="InternalError"),
]


@pytest.mark.parametrize("answer", UNAVAILABLE, ids=["absent", "forbidden", "broken"])
@pytest.mark.parametrize("mode", [Preflight.WARN, Preflight.STRICT])
async def test_what_cannot_be_reviewed_keeps_nobody_from_anything(
    answer: Answered, mode: Preflight, caplog: pytest.LogCaptureFixture
) -> None:
    """Reviews that are not answered are said once, and everything starts; strict or not."""
    caplog.set_level(logging.INFO, "pyctrl.manager")
    async with world() as it:
        wire = FaultyTransport(
            InProcessTransport(it.cluster.server, credentials=it.config.credentials),
            [Rule(answer, path="*/selfsubjectaccessreviews", times=None)],
        )
        async with Manager(client=Client(wire), preflight=mode) as manager:
            controller, marker = build(manager, ConfigMap)
            await it.grant(manager.grants())
            await it.create(ConfigMap, "c")
            async with manager.running():
                await asyncio.sleep(120)
                assert controller.is_ready
                assert list(marker.marked) == ["c"]
    said = [r for r in caplog.records if "Failed to review permissions" in r.getMessage()]
    assert len(said) == 1


async def test_without_reviews_a_refusal_is_proof_enough(caplog: pytest.LogCaptureFixture) -> None:
    """Without reviews, a forbidden request of a reconcile is logged once, and counts until it succeeds."""
    async with world() as it:
        absent = Rule(Answered(status=404, reason="NotFound"), path="*/selfsubjectaccessreviews", times=None)
        wire = FaultyTransport(InProcessTransport(it.cluster.server, credentials=it.config.credentials), [absent])
        async with Manager(client=Client(wire)) as manager:
            controller, marker = build(manager, ConfigMap)
            await it.grant(manager.grants())
            async with manager.running():
                await asyncio.sleep(5)
                await it.revoke()
                await it.create(ConfigMap, "c")
                await asyncio.sleep(600)
                assert controller.state is ControllerState.LACKING_RIGHTS
                await it.grant(manager.grants())
                await asyncio.sleep(90)
                assert controller.is_ready
                assert list(marker.marked) == ["c"]
    [told] = [text for text in warnings(caplog) if "may not" in text]
    assert told.startswith("system:serviceaccount:default:bot may not patch configmaps in namespace 'default'\n")


async def test_without_reviews_a_forbidden_kind_holds_up_nobody_else(caplog: pytest.LogCaptureFixture) -> None:
    """With preflight off the controller waits for its kind, which the cache is loud about, and the others run."""
    async with world() as it, Manager(it.config, preflight=Preflight.OFF) as manager:
        blocked, _ = build(manager, Secret)
        free, _ = build(manager, ConfigMap)
        everything = manager.grants()
        await it.grant(only(manager, "configmaps"))
        async with manager.running():
            await asyncio.sleep(600)
            assert free.is_ready
            assert blocked.state is ControllerState.WAITING_FOR_RIGHTS
            assert "secrets is forbidden" in manager.not_ready["secret"]
            await it.grant(everything)
            await asyncio.sleep(31)
            assert blocked.is_ready
    assert any("kubectl create clusterrolebinding" in text for text in warnings(caplog, "pyctrl.cache"))


async def test_rights_that_are_lost_and_given_back(caplog: pytest.LogCaptureFixture) -> None:
    """Twenty minutes without its role: said once, not ready; given back, everything is done within about 30 s."""
    async with world() as it, Manager(it.config) as manager:
        controller, marker = build(manager, ConfigMap)
        await it.grant(manager.grants())
        async with manager.running():
            await asyncio.sleep(60)
            assert controller.is_ready
            await it.revoke()
            for number in range(20):
                await it.create(ConfigMap, f"c{number}")
                await asyncio.sleep(60)
            assert controller.state is ControllerState.LACKING_RIGHTS
            assert "patch configmaps at the cluster scope" in manager.not_ready["configmap"]
            assert not marker.marked
            await asyncio.sleep(24)  # the next retries have just begun to wait for a minute
            given_back = now()
            await it.grant(manager.grants())
            await asyncio.sleep(35)
            assert len(marker.marked) == 20
            assert max(marker.marked.values()) <= given_back + 31
            assert controller.is_ready
            assert manager.not_ready == {}
    told = [text for text in warnings(caplog) if "may not patch configmaps" in text]
    assert len(told) == 1
    assert "failed requests are retried once it may" in told[0]


async def test_a_right_that_was_never_declared_is_named_as_such(caplog: pytest.LogCaptureFixture) -> None:
    """The message names the class and the missing declaration, which a generated role would lack, too."""
    async with world() as it, Manager(it.config) as manager:
        controller, marker = build(manager, ConfigMap, allow(ConfigMap, "get"))
        await it.grant(manager.grants())
        await it.create(ConfigMap, "c")
        async with manager.running():
            await asyncio.sleep(600)
            assert controller.state is ControllerState.LACKING_RIGHTS
            [told] = warnings(caplog)[:1]
            assert told.startswith("configmap may not patch configmaps in namespace 'default'; failed requests")
            assert 'the rbac of Marker lacks allow(ConfigMap, "patch"), and so do the roles generated from it' in told
            await it.admin.create(
                Unstructured(
                    {
                        "apiVersion": f"{ROLES}/v1",
                        "kind": "Role",
                        "metadata": {"name": "more", "namespace": "default"},
                        "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["patch"]}],
                    }
                )
            )
            await it.admin.create(
                Unstructured(
                    {
                        "apiVersion": f"{ROLES}/v1",
                        "kind": "RoleBinding",
                        "metadata": {"name": "more", "namespace": "default"},
                        "roleRef": {"apiGroup": ROLES, "kind": "Role", "name": "more"},
                        "subjects": [{"kind": "ServiceAccount", "name": "bot", "namespace": "default"}],
                    }
                )
            )
            await asyncio.sleep(32)
            assert list(marker.marked) == ["c"]
            assert controller.is_ready


class Wrapping(Marker):
    """Raises errors of its own, for which the refusal is the reason."""

    async def reconcile(self, request: Request) -> None:
        """Give up when it is refused."""
        try:
            await super().reconcile(request)
        except Exception as error:
            raise TerminalError("this cannot be done") from error


async def test_what_was_given_up_for_want_of_a_right_is_done_once_it_is_granted() -> None:
    """A refusal counts wherever in the error it is, and a grant is a change that a terminal error waits for."""
    async with world() as it, Manager(it.config) as manager:
        marker = Wrapping(ConfigMap)
        controller = Builder(manager).reconciles(ConfigMap).build(marker)
        await it.grant(manager.grants())
        async with manager.running():
            await asyncio.sleep(5)
            await it.revoke()
            await it.create(ConfigMap, "c")
            await asyncio.sleep(5)
            assert controller.statistics().reconciles.terminal_error == 1
            assert not controller.is_ready
            await it.grant(manager.grants())
            await asyncio.sleep(35)
            assert list(marker.marked) == ["c"]


async def test_a_refusal_that_is_about_no_right_is_an_ordinary_failure() -> None:
    """A quota that is exceeded is forbidden, too, and nothing that a role could grant."""

    class Refused(Marker):
        async def reconcile(self, request: Request) -> None:
            await self.client.create(Secret(metadata=ObjectMeta(name=request.name, namespace=request.namespace)))

    async with world() as it:
        quota = Answered(status=403, reason="Forbidden", message='secrets "c" is forbidden: exceeded quota: few')
        rules = [Rule(quota, method="POST", path="*/secrets", times=None)]
        wire = FaultyTransport(InProcessTransport(it.cluster.server, credentials=it.config.credentials), rules)
        async with Manager(client=Client(wire)) as manager:
            marker = Refused(ConfigMap, allow(Secret, "create"))
            controller = Builder(manager).reconciles(ConfigMap).build(marker)
            await it.grant(manager.grants())
            async with manager.running():
                await asyncio.sleep(30)
                assert controller.statistics().reconciles.error > 5
                assert controller.is_ready


async def test_a_server_that_says_yes_and_does_no_is_not_asked_without_end() -> None:
    """Where a review allows what is then refused, the retries keep their backoff, and reviews their distance."""
    async with world() as it:
        message = 'User "bot" cannot patch resource "configmaps" in API group "" in the namespace "default"'
        rules = [Rule(Answered(status=403, reason="Forbidden", message=message), method="PATCH", times=None)]
        wire = FaultyTransport(InProcessTransport(it.cluster.server, credentials=it.config.credentials), rules)
        async with Manager(client=Client(wire)) as manager:
            controller, _ = build(manager, ConfigMap)
            await it.grant(manager.grants())
            await it.create(ConfigMap, "c")
            async with manager.running():
                await asyncio.sleep(600)
                assert controller.statistics().reconciles.error < 25
                assert "it was forbidden to patch configmaps in namespace 'default'" in controller.why_not_ready
                asked = [r for r in wire.requests if r.path.endswith("selfsubjectaccessreviews")]
                assert len(asked) < 30


async def test_a_controller_that_is_added_later_is_reviewed_too(caplog: pytest.LogCaptureFixture) -> None:
    """Its permissions are reviewed at once, and missing ones are logged as at start."""
    async with world() as it, Manager(it.config) as manager:
        build(manager, ConfigMap)
        await it.grant(manager.grants())
        async with manager.running():
            await asyncio.sleep(60)
            late, _ = build(manager, Secret)
            await asyncio.sleep(1)
            assert late.state is ControllerState.WAITING_FOR_RIGHTS
            assert any(text.startswith("secret may not list, patch and watch secrets") for text in warnings(caplog))
            await it.grant(manager.grants())
            await asyncio.sleep(31)
            assert late.is_ready


async def test_whatever_else_needs_rights_is_named_and_held_up_by_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """A runnable that declares permissions runs; missing ones are in the log and in `not_ready`."""
    started: list[float] = []

    class Election:
        name = "election"
        rbac = (LEADER_ELECTION,)

        async def run(self) -> None:
            started.append(now())
            await asyncio.Event().wait()

    async with world() as it, Manager(it.config) as manager:
        manager.cache.informer(Service)
        manager.add(Election(), group=Group.OTHERS)
        async with manager.running():
            assert started
            assert set(manager.not_ready) == {"election", "cache"}
    assert [text.split("\n")[0] for text in warnings(caplog)] == [
        f"cache may not list and watch services at the cluster scope; {LATER}",
        f"election may not create, get and update leases.coordination.k8s.io in namespace 'default'; {LATER}",
    ]


async def test_messages_repeat_in_one_line_now_and_then(caplog: pytest.LogCaptureFixture) -> None:
    """Who looks at the end of a log after an hour sees that rights are missing, without all of it again."""
    async with world() as it, Manager(it.config) as manager:
        build(manager, ConfigMap)
        async with manager.running():
            await asyncio.sleep(3600)
    told = warnings(caplog)
    assert 8 <= len(told) <= 14
    assert set(told[1:]) == {"Permissions are still missing, see the earlier warnings for how to grant them"}
    refused = [text for text in warnings(caplog, "pyctrl.cache") if re.search("Failed to watch", text)]
    assert len(refused) == 1


async def test_where_everybody_may_do_everything_nothing_is_said(caplog: pytest.LogCaptureFixture) -> None:
    """Without authorization every review says yes."""
    async with Cluster(kubelet=False) as cluster, Manager(cluster.config, preflight=Preflight.STRICT) as manager:
        controller, _ = build(manager, ConfigMap)
        async with manager.running():
            await asyncio.sleep(1)
            assert controller.is_ready
            assert manager.not_ready == {}
    assert not warnings(caplog)
