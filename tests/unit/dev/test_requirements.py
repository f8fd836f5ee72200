"""Requirements of a program, found without running it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyctrl.api import GroupKind, GroupVersionKind, Key
from pyctrl.dev._requirements import WEBHOOK_HOST, find_requirements
from pyctrl.program import Target
from tests.unit.dev._programs import PROGRAM, WEBHOOKS

pytestmark = pytest.mark.usefixtures("imports_as_before")

ACCOUNT = Key("boxes", "operator")


async def test_crds_roles_webhooks_and_samples_are_found(tmp_path: Path) -> None:
    """A program needs the CRDs of its kinds, roles for its account, and its webhooks registered."""
    file = tmp_path / "boxes.py"
    file.write_text(PROGRAM + WEBHOOKS)
    found = await find_requirements(Target.parse(str(file)).find(), name="boxes", account=ACCOUNT)

    box = GroupVersionKind("dev.example.com", "v1", "Box")
    assert box in found.kinds.values()
    assert box in found.cached
    assert found.own == {GroupKind(box.group, box.kind)}
    assert [each["spec"]["names"]["kind"] for each in found.definitions] == ["Box"]
    assert [each["kind"] for each in found.samples()] == ["Box"]
    subjects = [subject for each in found.rights for subject in each.get("subjects", ())]
    assert {(each["namespace"], each["name"]) for each in subjects} == {(ACCOUNT.namespace, ACCOUNT.name)}
    addresses = [hook["clientConfig"]["url"] for each in found.registrations for hook in each["webhooks"]]
    assert addresses
    assert all(each.startswith(f"{WEBHOOK_HOST}/") for each in addresses)
