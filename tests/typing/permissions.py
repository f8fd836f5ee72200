"""Recording and comparing permissions, as type checkers see it. Checked, never run."""

from __future__ import annotations

from typing import assert_type

from pyctrl.api import Access
from pyctrl.client import Config, Transport
from pyctrl.manager import Manager
from pyctrl.rbac import Grants, PermissionComparison, RecordedAccess, compare
from pyctrl.testing import AccessRecorder, Operator, UnderRole


async def what_was_asked_for(config: Config, transport: Transport, manager: Manager) -> None:
    """A recorder wraps credentials or a transport; its record is compared with the granted permissions."""
    recorder = AccessRecorder(by="a test")
    assert_type(recorder.recorded(config), Config)
    assert_type(recorder.wrap(transport), Transport)
    assert_type(await recorder.wait_until_refused(timeout=5), list[RecordedAccess])
    assert_type(compare(manager.grants(), recorder.asked), PermissionComparison)
    assert_type(manager.grants().without(Access("get", "", "pods")), Grants)


async def under_its_role(under_role: UnderRole) -> None:
    """The setup function takes a manager; the block gets the running operator."""

    def wire(manager: Manager) -> None: ...

    async with under_role(wire, namespaces=["web"]) as operator:
        assert_type(operator, Operator)
        assert_type(operator.compare(), PermissionComparison)
