"""What type checkers see of recording and comparing rights. Checked, never run."""

from __future__ import annotations

from typing import assert_type

from pyctrl.api import Access
from pyctrl.client import Config, Transport
from pyctrl.manager import Manager
from pyctrl.rbac import Grants, PermissionComparison, RecordedAccess, compare
from pyctrl.testing import AccessRecorder, Operator, UnderRole


async def what_was_asked_for(config: Config, transport: Transport, manager: Manager) -> None:
    """A recorder goes into a login or around a transport; what it noted is compared with what is granted."""
    recorder = AccessRecorder(by="a test")
    assert_type(recorder.recorded(config), Config)
    assert_type(recorder.wrap(transport), Transport)
    assert_type(await recorder.wait_until_refused(timeout=5), list[RecordedAccess])
    assert_type(compare(manager.grants(), recorder.asked), PermissionComparison)
    assert_type(manager.grants().without(Access("get", "", "pods")), Grants)


async def under_its_role(under_role: UnderRole) -> None:
    """The function that wires takes a manager; the block gets what runs."""

    def wire(manager: Manager) -> None: ...

    async with under_role(wire, namespaces=["web"]) as operator:
        assert_type(operator, Operator)
        assert_type(operator.compare(), PermissionComparison)
