"""`pyctrl run` as a process, against any cluster."""

from __future__ import annotations

import contextlib
import signal
from pathlib import Path

import pytest

from pyctrl import CustomResource, Model
from pyctrl.api import Key, ObjectMeta
from pyctrl.client import Client, wait_for
from pyctrl.errors import NotFound
from pyctrl.kinds.apiextensions.v1 import CustomResourceDefinition
from pyctrl.program import Target, definitions, install_definitions
from pyctrl.testing import ClusterUnderTest
from pyctrl.webhook import Url
from tests.integration._processes import NO_SERVERS, kubeconfig_for, process

OPERATOR = """\
from pyctrl import CustomResource, Model, Reconciler, Request, allow, merge_from
from pyctrl.webhook import AdmissionRequest, Validator


class WidgetSpec(Model):
    size: int = 1


class WidgetStatus(Model):
    seen: int = 0


class Widget(CustomResource[WidgetSpec, WidgetStatus], group="run.pyctrl.test", version="v1"):
    "A widget."


class WidgetReconciler(Reconciler[Widget]):
    rbac = (allow(Widget, "patch", subresource="status"),)

    async def reconcile(self, request: Request) -> None:
        widget = await self.client.find(Widget, request.key)
        if widget is not None and widget.status.seen != widget.spec.size:
            before = widget.deep_copy()
            widget.status.seen = widget.spec.size
            await self.client.status.patch(widget, merge_from(before))


class WidgetChecks(Validator[Widget]):
    def validate_create(self, obj: Widget, request: AdmissionRequest) -> None: ...
"""


class WidgetSpec(Model):
    size: int = 1


class WidgetStatus(Model):
    seen: int = 0


class Widget(CustomResource[WidgetSpec, WidgetStatus], group="run.pyctrl.test", version="v1"):
    """A widget, as the operator has it."""


async def test_a_file_runs_with_its_definitions(
    cluster: ClusterUnderTest, client: Client, namespace: str, tmp_path: Path
) -> None:
    """A single file runs: it installs definitions, watches one namespace and prints the usual start-up lines.

    Its webhook needs a certificate, which is missing; ENABLE_WEBHOOKS=false disables the webhook.
    """
    file = tmp_path / "operator.py"
    file.write_text(OPERATOR)
    async with kubeconfig_for(cluster, tmp_path) as kubeconfig:
        flags = (
            "--install-crds",
            "--watch-namespace",
            namespace,
            "--leader-elect",
            "--leader-election-namespace",
            namespace,
        )
        arguments = ("run", str(file), "--kubeconfig", str(kubeconfig), *flags, *NO_SERVERS)
        try:
            async with process("pyctrl", *arguments, ENABLE_WEBHOOKS="false") as operator:
                for line in ("Installed definitions", "starting manager", "Starting EventSource", "Starting workers"):
                    await operator.says(line)
                widget = Widget(metadata=ObjectMeta(name="a", namespace=namespace), spec=WidgetSpec(size=3))
                await client.create(widget)
                await wait_for(client, Widget, widget.key, lambda found: found.status.seen == 3)
                assert await operator.end(signal.SIGTERM) == 0
            assert not [line for line in operator.log if "Traceback" in line or "webhook server" in line]
        finally:
            with contextlib.suppress(NotFound):
                await client.delete(CustomResourceDefinition, Key("", "widgets.run.pyctrl.test"))


TWO_VERSIONS = """\
from pyctrl import CustomResource, Model, Reconciler, Request
from pyctrl.webhook import Conversion, Spoke, same_fields


class GadgetSpec(Model):
    size: int = 1


class Gadget(CustomResource[GadgetSpec], group="run.pyctrl.test", version="v1"):
    "A gadget."


class GadgetV2(CustomResource[GadgetSpec], group="run.pyctrl.test", version="v2", kind="Gadget"):
    "A gadget."


class GadgetReconciler(Reconciler[Gadget]):
    async def reconcile(self, request: Request) -> None: ...


def up(obj: Gadget) -> GadgetV2:
    return same_fields(obj, GadgetV2)


def down(obj: GadgetV2) -> Gadget:
    return same_fields(obj, Gadget)


CONVERSION = Conversion(GadgetV2, Spoke(Gadget, to_hub=up, from_hub=down))
"""


@pytest.mark.slow(reason="it starts two processes")
async def test_versions_are_not_installed_without_their_conversion(
    cluster: ClusterUnderTest, client: Client, tmp_path: Path
) -> None:
    """Without webhooks, run refuses to install versions that need conversion, but keeps an installed conversion."""
    file, name = tmp_path / "gadgets.py", "gadgets.run.pyctrl.test"
    file.write_text(TWO_VERSIONS)
    async with kubeconfig_for(cluster, tmp_path) as kubeconfig:
        flags = ("--install-crds", "--no-webhooks", *NO_SERVERS)
        arguments = ("run", str(file), "--kubeconfig", str(kubeconfig), *flags)
        try:
            async with process("pyctrl", *arguments) as operator:
                await operator.says("CustomResourceDefinition gadgets.run.pyctrl.test was not installed")
                await operator.says("the address of the program's webhook is unknown")
                assert await operator.exit_code() == 1
            assert await client.find(CustomResourceDefinition, Key("", name)) is None
            target = Url("https://127.0.0.1:1")
            wanted = await definitions(Target.parse(str(file)).find(), target=target)
            await install_definitions(client, wanted)
            async with process("pyctrl", *arguments) as operator:
                await operator.says("Starting workers")
                assert await operator.end(signal.SIGTERM) == 0
            found = await client.get(CustomResourceDefinition, Key("", name))
            assert found.spec.conversion is not None
            assert found.spec.conversion.strategy == "Webhook"
        finally:
            with contextlib.suppress(NotFound):
                await client.delete(CustomResourceDefinition, Key("", name))
