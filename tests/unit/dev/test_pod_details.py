"""Details of pods: logs, and what clients run in them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from pyctrl.api import Key, OwnerReference
from pyctrl.client import exec_command, wait_for
from pyctrl.cluster import ExecProcess, PodSession, Script
from pyctrl.controller import Request
from pyctrl.dev import ContainerDetails, DevOptions, DevSession, SessionRow, take_details
from pyctrl.dev._pod_details import session_row
from pyctrl.kinds.core.v1 import Container, Pod
from pyctrl.program import Target
from tests.unit.dev._programs import PROGRAM, SAMPLE

pytestmark = pytest.mark.usefixtures("imports_as_before")

SHELL = Key("default", "shell")


async def fail(process: ExecProcess) -> int:
    await asyncio.sleep(2)
    return 1


def script(pod: Pod, container: Container) -> Script:
    return Script(exec=fail, logs="one\ntwo\n")


async def test_pods_of_an_object_have_logs_and_sessions(tmp_path: Path) -> None:
    """A pod that the object owns has the state and log of its container, and the command that was run in it."""
    file, sample = tmp_path / "boxes.py", tmp_path / "box.yaml"
    file.write_text(PROGRAM)
    sample.write_text(SAMPLE)
    options = DevOptions(apply=[sample], pod_script=script)
    async with DevSession(Target.parse(str(file)), options) as session:
        box = (await take_details(session, "box", Request("default", "sample"))).yaml
        uid = next(line.split()[-1] for line in box.splitlines() if line.startswith("  uid:"))
        owner = OwnerReference(api_version="dev.example.com/v1", kind="Box", name="sample", uid=uid)
        pod = Pod.from_wire(
            {
                "metadata": {"name": "shell", "namespace": "default", "ownerReferences": [owner.to_wire()]},
                "spec": {"containers": [{"name": "main", "image": "busybox"}]},
            }
        )
        await session.admin.create(pod)
        await wait_for(session.admin, Pod, SHELL, lambda pod: pod.status.phase == "Running")
        assert (await exec_command(session.admin, SHELL, ["sh", "-c", "exit 1"])).exit_code == 1
        (found,) = (await take_details(session, "box", Request("default", "sample"))).pods
        assert (found.name, found.phase) == ("shell", "Running")
        assert found.containers == (ContainerDetails(name="main", state="Running", log=("one", "two")),)
        (row,) = found.sessions
        assert (row.action, row.result, row.is_failed) == ("exec sh -c exit 1", "exit code 1 after 2 s", True)


@pytest.mark.parametrize(
    ("session", "action", "result"),
    [
        (
            PodSession(subresource="exec", container="a", command=("sh", "-c", "a\n  b"), began=0),
            "exec sh -c a b",
            "",
        ),
        (PodSession(subresource="attach", container="a", began=0, ended=1), "attach", "ended after 1 s"),
        (
            PodSession(subresource="portforward", container="", port=80, began=0, ended=0, error="refused"),
            "port-forward 80",
            "failed: refused",
        ),
    ],
)
def test_each_session_is_one_line(session: PodSession, action: str, result: str) -> None:
    """A command is on one line; the result says whether it runs, how it ended, or why it failed."""
    expected = SessionRow(
        container=session.container,
        action=action,
        last="3 s ago",
        result=result or "running for 3 s",
        is_failed=bool(session.error),
    )
    assert session_row(session, 3.0) == expected
