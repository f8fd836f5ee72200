"""The substitute for kubectl in the tutorial prints the same as kubectl."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyctrl.apiserver import ApiServer, serve
from pyctrl.client import Config
from tests.integration._kubectl import Kubectl
from tests.integration._kubectl_stand_in import kubectl as stand_in
from tests.integration._walk import comparable

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx}]}
"""
COMMANDS = (
    ("apply", "-f", "web.yaml"),
    ("get", "deployments"),
    ("get", "serviceaccounts,deployments,namespaces"),
    ("patch", "deployment", "web", "--type", "merge", "--patch", '{"spec": {"replicas": -1}}'),
    ("delete", "deployment", "web"),
    ("get", "deployment", "web"),
)


async def test_the_stand_in_says_what_kubectl_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The substitute prints the same for created, listed, rejected, deleted and missing objects."""
    monkeypatch.chdir(tmp_path)
    Path("web.yaml").write_text(DEPLOYMENT)
    said: list[list[str]] = []
    for who in ("kubectl", "stand-in"):
        async with serve(ApiServer()) as url:
            config = Config.from_token(url, "admin")
            Path("kubeconfig").write_text(config.to_kubeconfig())
            kubectl = Kubectl(tmp_path / "kubeconfig", "default")
            said.append([])
            for command in COMMANDS:
                if who == "kubectl":
                    outcome = await kubectl.outcome(*command)
                    said[-1].append(comparable(outcome.out + outcome.err))
                else:
                    said[-1].append(comparable(await stand_in(config, *command)))
    assert said[0] == said[1]
