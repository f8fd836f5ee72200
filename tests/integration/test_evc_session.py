"""The session of the seed, with a real kubectl, on any cluster."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pyctrl.client import Client
from pyctrl.testing import ClusterUnderTest
from tests.integration._kubectl import Kubectl, kubectl_for
from tests.integration._operators import EVC_DEFINITION, EXAMPLES, evc_operator, install

pytestmark = [
    pytest.mark.real_time,  # sockets and processes
    pytest.mark.slow("each command is a process, which asks for discovery anew; a real garbage collector takes 30 s"),
    pytest.mark.timeout(180),
]

SAMPLE = (EXAMPLES / "evc" / "config" / "samples" / "kopf.dev_v1_ephemeralvolumeclaim.yaml").read_text()
NAMES = ("my-claim", "my-claim2", "my-claim3")


@pytest.fixture
async def kubectl(
    cluster: ClusterUnderTest, client: Client, namespace: str, storage_class: str, tmp_path: Path
) -> AsyncIterator[Kubectl]:
    """kubectl in the test's namespace, where the operator runs."""
    await install(client, EVC_DEFINITION)
    async with (
        kubectl_for(cluster, namespace, tmp_path) as kubectl,
        evc_operator(cluster, namespace, storage_class),
    ):
        yield kubectl


def lines(printed: str) -> list[list[str]]:
    """Return the words of each line of a table, without the age."""
    return [line.split()[:-1] for line in printed.splitlines()]


async def test_the_session(kubectl: Kubectl, namespace: str, storage_class: str) -> None:
    """Three claims are created and bound, each to its own volume, then deleted without a trace."""
    created = await kubectl("create", "-f", "-", stdin=SAMPLE)
    assert created.splitlines() == [
        f"ephemeralvolumeclaim.kopf.dev/{name} created" for name in ("my-claim3", "my-claim2", "my-claim")
    ]
    for name in NAMES:
        await kubectl("wait", "--for=condition=Ready", f"evc/{name}", "--timeout=30s")
    head, *rows = lines(await kubectl("get", "pvc"))
    assert " ".join(head).startswith("NAME STATUS VOLUME CAPACITY ACCESS MODES STORAGECLASS")
    uids = (await kubectl("get", "pvc", "-o", "jsonpath={.items[*].metadata.uid}")).split()
    assert [row[:6] for row in rows] == [
        [name, "Bound", f"pvc-{uid}", "2G", "RWO", storage_class] for name, uid in zip(NAMES, uids, strict=True)
    ]

    for short in ("evc", "evcs", "ephemeralvolumeclaim", "ephemeralvolumeclaims.v1.kopf.dev"):
        assert lines(await kubectl("get", short)) == [["NAME"], *([name] for name in NAMES)]

    deleted = await kubectl("delete", "-f", "-", stdin=SAMPLE)
    assert [line.split(" from ")[0] for line in deleted.splitlines()] == [
        f'ephemeralvolumeclaim.kopf.dev "{name}" deleted' for name in ("my-claim3", "my-claim2", "my-claim")
    ]
    await kubectl("wait", "--for=delete", *(f"pvc/{name}" for name in NAMES), "--timeout=90s")
    left = await kubectl.outcome("get", "pvc")
    assert (left.code, left.out, left.err) == (0, "", f"No resources found in {namespace} namespace.\n")


async def test_a_document_without_an_api_version(kubectl: Kubectl) -> None:
    """kubectl rejects the file of the seed, and creates nothing."""
    broken = SAMPLE.removeprefix("apiVersion: kopf.dev/v1\n")
    outcome = await kubectl.outcome("create", "-f", "-", stdin=broken)
    assert outcome.code == 1
    assert "error validating data: apiVersion not set" in outcome.err
    assert await kubectl("get", "evc", "-o", "name") == ""


async def test_a_claim_without_a_size_is_explained(kubectl: Kubectl) -> None:
    """describe shows why a claim has no volume."""
    without = SAMPLE.split("---")[0].replace("  size: 2G\n", "  colour: blue\n")
    await kubectl("create", "-f", "-", stdin=without)
    await kubectl("wait", "--for=condition=Ready=False", "evc/my-claim3", "--timeout=30s")
    described = await kubectl("describe", "evc", "my-claim3")
    assert "Size must be set. Got None." in described
    assert "InvalidSize" in described
