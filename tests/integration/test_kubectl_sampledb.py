"""The two database commands of Kubernetes' page about operators, with a real kubectl."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from examples.sampledb.reconciler import add_sampledb
from pyctrl.client import Client
from pyctrl.manager import Manager
from pyctrl.testing import ClusterUnderTest
from tests.integration._kubectl import kubectl_for
from tests.integration._operators import EXAMPLES, install

pytestmark = [
    pytest.mark.real_time,  # sockets and processes
    pytest.mark.slow("each command is a process, which asks for discovery anew"),
    pytest.mark.timeout(120),
]

CONFIG = EXAMPLES / "sampledb" / "config"
SAMPLE = (CONFIG / "samples" / "databases.example.com_v1alpha1_sampledb.yaml").read_text()


async def test_get_and_edit(
    cluster: ClusterUnderTest,
    client: Client,
    namespace: str,
    storage_class: str,
    running_pods: None,
    tmp_path: Path,
) -> None:
    """`get SampleDB` shows version and readiness; `edit SampleDB/example-database` upgrades the database."""
    await install(client, CONFIG / "crd" / "bases" / "databases.example.com_sampledbs.yaml")
    sample = yaml.safe_load(SAMPLE)
    sample["metadata"] = {"name": "example-database"}
    sample["spec"] |= {"storageClass": storage_class, "snapshotOnDelete": False}
    async with (
        Manager(cluster.config, namespaces=[namespace]) as manager,
        kubectl_for(cluster, namespace, tmp_path) as kubectl,
    ):
        add_sampledb(manager)
        async with manager.running():
            await kubectl("create", "-f", "-", stdin=json.dumps(sample))
            await kubectl("wait", "--for=condition=Ready", "sampledb/example-database", "--timeout=30s")
            head, row = (await kubectl("get", "SampleDB")).splitlines()
            assert head.split() == ["NAME", "VERSION", "READY", "REASON", "LAST", "BACKUP", "AGE"]
            assert row.split()[:4] == ["example-database", "1", "True", "Running"]
            await kubectl("edit", "SampleDB/example-database", editing=("  version: 1\nstatus", "  version: 2\nstatus"))
            upgraded = "--for=jsonpath={.status.version}=2"
            await kubectl("wait", upgraded, "sampledb/example-database", "--timeout=30s")
            await kubectl("delete", "sampledb/example-database")
