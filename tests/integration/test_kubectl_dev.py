"""`pyctrl dev` with one file, a kubectl beside it, and a file that is saved again."""

from __future__ import annotations

import signal
from pathlib import Path

from tests.integration._kubectl import Kubectl
from tests.integration._processes import process
from tests.integration.test_run import OPERATOR

SAMPLE = """\
apiVersion: run.pyctrl.test/v1
kind: Widget
metadata: {name: sample}
spec: {size: 3}
"""


async def seen(kubectl: Kubectl, name: str, expected: str) -> None:
    """Wait until the operator has written the expected value into the status."""
    await kubectl(*("wait", f"widget/{name}", f"--for=jsonpath={{.status.seen}}={expected}", "--timeout=20s"))


async def test_a_file_is_an_operator_in_a_cluster_and_a_save_is_a_new_one(tmp_path: Path) -> None:
    """dev applies the sample and webhooks, reloads a saved file, and survives an error in it."""
    file, kubeconfig = tmp_path / "widgets.py", tmp_path / "dev.kubeconfig"
    file.write_text(OPERATOR)
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "sample.yaml").write_text(SAMPLE)
    kubectl = Kubectl(kubeconfig, "default")
    arguments = ("dev", str(file), "--write-kubeconfig", str(kubeconfig), "--no-kubelet", "--no-controllers")
    async with process("pyctrl", *arguments) as operator:
        await operator.says("ready http://127.0.0.1:")
        await operator.says(f"export KUBECONFIG={kubeconfig}")
        await seen(kubectl, "sample", "3")
        assert await kubectl("get", "validatingwebhookconfigurations", "-o", "name") == (
            "validatingwebhookconfiguration.admissionregistration.k8s.io/widgets"
        )

        file.write_text(OPERATOR + "\nraise ValueError('half')\n")
        await operator.says("ValueError: half")
        file.write_text(OPERATOR.replace("widget.status.seen = widget.spec.size", "widget.status.seen = -1"))
        await operator.says("Reloaded program")
        await kubectl("patch", "widget", "sample", "--type=merge", '-p={"spec":{"size":4}}')
        await seen(kubectl, "sample", "-1")
        assert await operator.end(signal.SIGINT) == 0
    assert not [line for line in operator.log if "Traceback" in line]
