"""Missing permissions: messages, fixes and repetitions."""

from __future__ import annotations

import asyncio
import re

import pytest

from pyctrl.api import Unstructured
from pyctrl.controller import ControllerState
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import Manager
from pyctrl.rbac import allow
from tests.unit.manager.permissions._permissions import build, warnings, world

ROLES = "rbac.authorization.k8s.io"


async def test_what_is_missing_is_said_once_with_the_rule_and_the_commands(caplog: pytest.LogCaptureFixture) -> None:
    """One message for the verbs of a resource names waiting runnables, the rule for a role, and shell commands."""
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


async def test_a_right_that_was_never_declared_is_named_as_such(caplog: pytest.LogCaptureFixture) -> None:
    """The message names the class and its missing declaration, which a generated role would lack too."""
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


async def test_messages_repeat_in_one_line_now_and_then(caplog: pytest.LogCaptureFixture) -> None:
    """One line repeats from time to time that permissions are missing, without the details."""
    async with world() as it, Manager(it.config) as manager:
        build(manager, ConfigMap)
        async with manager.running():
            await asyncio.sleep(3600)
    told = warnings(caplog)
    assert 8 <= len(told) <= 14
    assert set(told[1:]) == {"Permissions are still missing, see the earlier warnings for how to grant them"}
    refused = [text for text in warnings(caplog, "pyctrl.cache") if re.search("Failed to watch", text)]
    assert len(refused) == 1
