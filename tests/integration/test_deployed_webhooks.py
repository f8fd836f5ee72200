"""A CronTab in two versions with scaffolded webhooks, deployed by its generated manifests.

Only the pod is simulated: the program runs in its own process, with the arguments of the Deployment, as its service
account. The Service points there by an external name, which a bare control plane can resolve. So the certificate that
the program makes must be valid for the name of the Service, and trusted in every object that names the Service.
"""

from __future__ import annotations

import asyncio
import importlib
import signal
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pyctrl.api import GroupVersionKind, Key, ObjectMeta, Unstructured
from pyctrl.client import Client, MergePatch, wait_for
from pyctrl.errors import ApiError, Invalid
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import Secret, Service
from pyctrl.packaging import Deployer, Project, Settings, read_project
from pyctrl.program import certificate_secret
from pyctrl.testing import ClusterUnderTest
from tests.integration._processes import kubeconfig_for, process
from tests.integration.test_walkthroughs import Typed, edit, fields_of_spec, typed

__all__ = ["typed"]

pytestmark = [
    pytest.mark.real_time,  # sockets and processes
    pytest.mark.rbac,
    pytest.mark.slow("five commands and the program, each of them a process"),
]

CONVERT = "made = same_fields(obj, {0})\n    made.spec.{1} = obj.spec.{2}\n    return made"
SERVERS = ("--metrics", "--health-probe")  # several operators run on one machine


@pytest.fixture
async def project(client: Client, namespace: str, typed: Typed) -> Project:
    """Create an operator with commands, and write the conversion between its versions."""
    await typed("init", "--domain", f"{namespace}.pyctrl.test", "--name", "crontab-hooks")
    for version, field, flag in (("v1", "cron_spec", "--no-controller"), ("v2", "schedule", "--controller")):
        await typed("create", "api", "--version", version, "--kind", "CronTab", flag)
        spec = fields_of_spec("CronTab")
        edit(f"crontab_hooks/api/{version}/crontab.py", (spec, f'{spec}\n    {field}: str = ""\n'))
    webhooks = ("--defaulting", "--programmatic-validation", "--conversion")
    await typed("create", "webhook", "--version", "v2", "--kind", "CronTab", *webhooks)
    edit(
        "crontab_hooks/webhooks/crontab_conversion.py",
        ("return same_fields(obj, v2.CronTab)", CONVERT.format("v2.CronTab", "schedule", "cron_spec")),
        ("return same_fields(obj, v1.CronTab)", CONVERT.format("v1.CronTab", "cron_spec", "schedule")),
    )
    return await read_project(Settings(program="crontab_hooks", name=f"{namespace}-hooks", namespace=namespace))


@asynccontextmanager
async def deployed(client: Client, project: Project, port: int) -> AsyncIterator[list[str]]:
    """Apply all manifests of the program, point its Service here, and return the container's arguments."""
    deployer = Deployer(client, project)
    try:
        steps = [step async for step in deployer.deploy()]
        key = Key(project.namespace, project.webhook_service.name)
        spec = {"type": "ExternalName", "externalName": "localhost"}
        await client.patch(Service, key, MergePatch({"spec": spec}))
        for step in steps:
            if step.kind.endswith("WebhookConfiguration") or step.kind == "CustomResourceDefinition":
                await _lead_to(client, step.kind, step.key, port)
        (container,) = (await client.get(Deployment, project.account)).spec.template.spec.containers
        yield [each for each in container.args if not each.startswith(SERVERS)]
    finally:
        async for _ in deployer.undeploy(delete_definitions=True):
            pass


async def _lead_to(client: Client, kind: str, key: Key, port: int) -> None:
    """Change the port of the webhooks: an external name does not translate ports."""
    group = "apiextensions.k8s.io" if kind == "CustomResourceDefinition" else "admissionregistration.k8s.io"
    found = await client.get(GroupVersionKind(group, "v1", kind), key)
    for config in _client_configs(found):
        config["service"]["port"] = port
    await client.update(found)


def _client_configs(found: Unstructured) -> list[dict[str, Any]]:
    conversion: Mapping[str, Any] = (found.get("spec") or {}).get("conversion") or {}
    hooks = [*(found.get("webhooks") or ()), *([conversion["webhook"]] if "webhook" in conversion else [])]
    return [hook["clientConfig"] for hook in hooks]


def free_port() -> int:
    """Return a port that is free."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def test_what_is_made_is_asked_over_tls(
    cluster: ClusterUnderTest, client: Client, namespace: str, project: Project, tmp_path: Path
) -> None:
    """Generated manifests suffice for defaulting, validation and conversion over TLS, without missing permissions."""
    modules = [importlib.import_module(f"crontab_hooks.api.{each}.crontab") for each in ("v1", "v2")]
    old, new = (module.CronTab for module in modules)
    port = free_port()
    async with deployed(client, project, port) as arguments:
        account = replace(cluster, config=await cluster.config_for_account(project.account))
        async with (
            kubeconfig_for(account, tmp_path) as kubeconfig,
            process(
                "pyctrl", "run", str(tmp_path / "crontab_hooks"), *arguments,
                "--webhook-port", str(port), "--kubeconfig", str(kubeconfig),
                "--metrics-bind-address", "0", "--health-probe-bind-address", "0",
            ) as operator,
        ):  # fmt: skip
            await operator.says("Starting workers")
            meta = ObjectMeta(name="nightly", namespace=namespace)
            made = await _made(client, old(metadata=meta, spec=modules[0].CronTabSpec(cron_spec="5 0 * * *")))
            stored = await client.get(new, made.key)
            assert stored.spec.schedule == "5 0 * * *"
            assert list(stored.metadata.annotations) == [f"{namespace}.pyctrl.test/created-by"]
            with pytest.raises(Invalid, match=r"metadata\.name: Too long: may not be more than 52 bytes"):
                await client.create(old(metadata=ObjectMeta(name="x" * 53, namespace=namespace)))
            await wait_for(client, new, made.key, lambda found: found.status.observed_generation == 1)
            secret = await client.get(Secret, certificate_secret(project.webhook_service))
            assert secret.type == "kubernetes.io/tls"
            await client.delete(made)
            assert await operator.end(signal.SIGTERM) == 0
            assert not [line for line in operator.log if "forbidden" in line.lower()]


async def _made(client: Client, obj: Any) -> Any:
    """Create an object once the server calls and trusts the webhooks, which a real one learns by watches."""
    for _ in range(100):
        try:
            made = await client.create(obj, dry_run=True)
        except ApiError:
            await asyncio.sleep(0.1)
            continue
        if made.metadata.annotations:
            return await client.create(obj)
        await asyncio.sleep(0.1)
    raise AssertionError("the webhooks were not asked, or not trusted")
