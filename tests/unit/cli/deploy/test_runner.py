"""Runner of `pyctrl deploy`: reported steps."""

from __future__ import annotations

import json
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from pyctrl.cli._deploy.runner import DeployReport
from pyctrl.cluster import Cluster
from pyctrl.errors import CommandFailed
from pyctrl.packaging import Deployer
from tests.unit.packaging._programs import podset


async def test_a_deployment_tells_its_steps_when_it_is_over(capsys: pytest.CaptureFixture[str]) -> None:
    """`-o json` prints one document, also on failure, and no progress."""
    project = await podset()
    async with Cluster(random=Random(1), rbac=True) as cluster, cluster.client() as client:
        deployer = Deployer(client, project)
        with DeployReport("json") as report:
            await report.follow(deployer.deploy())
            await report.wait(deployer, project, timedelta(minutes=1))
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert told["available"] is True
    assert told["steps"][0] == {"action": "applied", "kind": "Namespace", "namespace": "", "name": "podset-system"}

    async with Cluster(random=Random(1), rbac=True, kubelet=False) as cluster, cluster.client() as client:
        deployer = Deployer(client, project)
        with pytest.raises(CommandFailed, match="is not available after 60s"), DeployReport("json") as report:
            await report.follow(deployer.deploy())
            await report.wait(deployer, project, timedelta(minutes=1))
    failed = capsys.readouterr()
    assert (json.loads(failed.out)["available"], failed.err) == (False, "")


async def test_a_deployment_says_what_it_waits_for(capsys: pytest.CaptureFixture[str]) -> None:
    """As text, each step is printed immediately, and progress after two seconds."""
    project = await podset()
    async with Cluster(random=Random(1), rbac=True, kubelet=False) as cluster, cluster.client() as client:
        deployer = Deployer(client, project)
        with pytest.raises(CommandFailed), DeployReport("text") as report:
            await report.follow(deployer.deploy())
            await report.wait(deployer, project, timedelta(seconds=50))
    told = capsys.readouterr()
    assert told.out.startswith("applied Namespace podset-system\napplied CustomResourceDefinition")
    waited = "waiting for Deployment podset-system/podset-controller-manager to become available"
    assert told.err.splitlines()[-2:] == [f"{waited} (2s)", f"{waited} (32s)"]
