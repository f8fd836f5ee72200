"""Published operator-sdk walk-throughs, from an empty folder to a running operator.

The tests type and edit what the authors do. Only the domains differ where a shared cluster may have definitions of
the same names.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from pyctrl.api import CustomResource, Key, ObjectMeta, Unstructured, controller_of
from pyctrl.client import Client, MergePatch, wait_for
from pyctrl.errors import Invalid, NotFound
from pyctrl.kinds.apiextensions.v1 import CustomResourceDefinition
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.manifests import definition
from pyctrl.program import Target, install_definitions
from pyctrl.testing import ClusterUnderTest, UnderRole
from tests.integration._operators import may_own
from tests.integration._processes import NO_SERVERS, REPOSITORY, kubeconfig_for, process

FIELDS_OF_STATUS = "    observed_generation: Int64 = 0\n"
PODSET = REPOSITORY / "examples" / "podset" / "podset.py"

Typed = Callable[..., Any]


def fields_of_spec(kind: str) -> str:
    """Return the docstring of a scaffolded spec, after which its fields are added."""
    return f'    """The desired state of a {kind}."""\n'


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Typed:
    """Run commands in an initially empty folder, and return their output."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)

    async def run(*arguments: str) -> str:
        running = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "pyctrl", *arguments),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        )
        told, _ = await running.communicate()
        assert running.returncode == 0, told.decode()
        return told.decode()

    return run


def edit(file: str, *changes: tuple[str, str]) -> None:
    """Edit a generated file, as its user does in an editor."""
    text = Path(file).read_text()
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    Path(file).write_text(text)


@asynccontextmanager
async def gone_afterwards(client: Client, name: str) -> AsyncIterator[None]:
    """Delete a definition after the block."""
    try:
        yield
    finally:
        with suppress(NotFound):
            await client.delete(CustomResourceDefinition, Key("", name))


async def test_mysrv(cluster: ClusterUnderTest, client: Client, namespace: str, tmp_path: Path, typed: Typed) -> None:
    """The MySrv walk-through works: init, create api, types, manifests, `pyctrl run` without webhooks, a sample."""
    told = await typed(
        "init", "--domain", "idcos.com", "--license", "apache2", "--owner", "Peng Ganyu", "--name", "mysrv"
    )
    assert told.endswith("Next: define a resource with:\n$ pyctrl create api --version v1alpha1 --kind NAME\n")
    await typed("create", "api", "--group=myapp", "--version=v1alpha1", "--kind=MySrv")
    assert Path("mysrv/api/v1alpha1/mysrv.py").read_text().startswith("# SPDX-FileCopyrightText: Peng Ganyu\n")
    edit(
        "mysrv/api/v1alpha1/mysrv.py",
        (fields_of_spec("MySrv"), fields_of_spec("MySrv") + "\n    port: int\n    name: str\n"),
        (FIELDS_OF_STATUS, '    status: str = ""\n'),
        ("CustomResource, Int64, Model", "CustomResource, Model"),
    )
    edit(
        "mysrv/controllers/mysrv.py",
        ("mysrv.status.observed_generation", "mysrv.status.status"),
        ("mysrv.metadata.generation", 'f"{mysrv.spec.name}:{mysrv.spec.port}"'),
    )
    await typed("manifests", "crd", "rbac", "samples")
    for role in ("role", "mysrv_editor_role", "mysrv_viewer_role"):
        assert Path(f"config/rbac/{role}.yaml").exists()
    sample = yaml.safe_load(Path("config/samples/myapp.idcos.com_v1alpha1_mysrv.yaml").read_text())
    definition = yaml.safe_load(Path("config/crd/bases/myapp.idcos.com_mysrvs.yaml").read_text())

    async with gone_afterwards(client, "mysrvs.myapp.idcos.com"), kubeconfig_for(cluster, tmp_path) as kubeconfig:
        await install_definitions(client, [definition])
        arguments = ("run", str(tmp_path / "mysrv"), "--kubeconfig", str(kubeconfig), "--watch-namespace", namespace)
        async with process("pyctrl", *arguments, *NO_SERVERS, ENABLE_WEBHOOKS="false") as operator:
            for line in ("starting manager", "Starting EventSource", "Starting Controller", "Starting workers"):
                await operator.says(line)
            sample["metadata"]["namespace"] = namespace
            sample["spec"] |= {"name": "CloudCMP", "port": 80}
            made = await client.create(Unstructured(sample))
            await wait_for(
                client, made.gvk, made.key, lambda found: found.get("status", {}).get("status") == "CloudCMP:80"
            )
            assert await operator.end(signal.SIGTERM) == 0
        named = await client.discovery.named("mySrv")
        assert [each.gvk.group for each in named] == ["myapp.idcos.com"]
        meta = {"name": "capitals", "namespace": namespace}
        capitals = {"apiVersion": "myapp.idcos.com/v1alpha1", "kind": "MySrv", "metadata": meta}
        with pytest.raises(Invalid, match=r"spec\.name: Required value"):
            await client.create(Unstructured(capitals | {"spec": {"Name": "CloudCMP", "Port": 80}}))


async def test_podset(
    cluster: ClusterUnderTest,
    client: Client,
    namespace: str,
    running_pods: None,
    under_role: UnderRole,
    typed: Typed,
) -> None:
    """The PodSet walk-through works: scaling, down to zero, and pod names in the status, with the generated role."""
    domain = f"{namespace}.pyctrl.test"
    await typed("init", "--domain", domain, "--name", "podset-walk")
    told = await typed(
        *("create", "api", "--group", "apps", "--version", "v1alpha1", "--kind", "PodSet", "--resource", "--controller")
    )
    assert f"Kubernetes has a built-in group 'apps'; yours is apps.{domain}" in told
    edit(
        "podset_walk/api/v1alpha1/podset.py",
        (
            fields_of_spec("PodSet"),
            fields_of_spec("PodSet") + '\n    size: Int32\n    """Size of the PodSet deployment."""\n',
        ),
        (FIELDS_OF_STATUS, "    nodes: list[str] = []\n"),
        ("CustomResource, Int64, Model", "CustomResource, Int32, Model"),
    )
    example = PODSET.read_text()
    imports, logic = example[: example.index("class PodSetSpec")], example[example.index("def labels_for") :]
    own = "from podset_walk.api.v1alpha1.podset import PodSet\n\n\n"
    Path("podset_walk/controllers/podset.py").write_text(imports + own + logic)

    wire = Target.parse("podset_walk").find()
    podset = importlib.import_module("podset_walk.api.v1alpha1.podset")
    kind: type[CustomResource[Any, Any]] = podset.PodSet
    async with gone_afterwards(client, f"podsets.apps.{domain}"):
        await install_definitions(client, [definition(kind)])
        await may_own(client, CustomResourceDefinition.from_wire(definition(kind)))
        async with under_role(wire, namespaces=[namespace]) as operator:
            meta = ObjectMeta(name="web", namespace=namespace)
            made = await client.create(kind(metadata=meta, spec=podset.PodSetSpec(size=3)))
            await wait_for(client, kind, made.key, lambda found: len(found.status.nodes) == 3)
            await client.patch(kind, made.key, MergePatch({"spec": {"size": 0}}))
            await wait_for(client, kind, made.key, lambda found: found.status.nodes == [])
            owner = controller_of(await client.get(Deployment, made.key))
            assert owner is not None
            assert (owner.kind, owner.uid) == ("PodSet", made.metadata.uid)
            assert operator.compare().lines() == []


async def test_crontab(client: Client, namespace: str, typed: Typed, under_role: UnderRole) -> None:
    """The CronTab walk-through works: two versions, one stored, a short name, defaults, bounds, and scale."""
    group = f"stable.{namespace}.pyctrl.test"
    await typed("init", "--domain", f"{namespace}.pyctrl.test", "--name", "crontab-walk")
    for version, controller in (("v1", "--controller"), ("v2", "--no-controller")):
        await typed("create", "api", "--group", "stable", "--version", version, "--kind", "CronTab", controller)
        edit(
            f"crontab_walk/api/{version}/crontab.py",
            (fields_of_spec("CronTab"), fields_of_spec("CronTab") + CRONTAB),
            (FIELDS_OF_STATUS, FIELDS_OF_STATUS + "    replicas: int = 0\n"),
            (
                f'    version="{version}",\n',
                f'    version="{version}",\n    short_names=("ct",),\n    scale=ScaleSubresource(),\n',
            ),
            ("from pyctrl import CustomResource, Int64, Model", "from pydantic import Field\n\n" + IMPORTS),
        )
    wire = Target.parse("crontab_walk").find()
    versions = [importlib.import_module(f"crontab_walk.api.{each}.crontab") for each in ("v1", "v2")]
    old, new = (module.CronTab for module in versions)
    async with gone_afterwards(client, f"crontabs.{group}"):
        await install_definitions(client, [definition(old, new, stored=old)])
        async with under_role(wire, namespaces=[namespace]):
            made = await client.create(Unstructured(crontab(group, namespace, {"image": "my-awesome-cron-image"})))
            assert made["spec"] == {"cronSpec": "5 0 * * *", "image": "my-awesome-cron-image", "replicas": 1}
            await wait_for(client, old, made.key, lambda found: found.status.observed_generation == 1)
        assert (await client.get(new, made.key)).spec.replicas == 1
        with pytest.raises(Invalid, match=r"spec\.replicas in body should be less than or equal to 10"):
            await client.patch(old, made.key, MergePatch({"spec": {"replicas": 11}}))
        with pytest.raises(Invalid, match=r"spec\.cronSpec in body should match"):
            await client.patch(old, made.key, MergePatch({"spec": {"cronSpec": "whenever"}}))
        assert group in [each.gvk.group for each in await client.discovery.named("ct")]
        await client.subresource("scale").patch(old, made.key, MergePatch({"spec": {"replicas": 4}}))
        assert (await client.get(new, made.key)).spec.replicas == 4


IMPORTS = "from pyctrl import CustomResource, Int64, Model, ScaleSubresource"
CRONTAB = r"""
    cron_spec: str = Field("5 0 * * *", pattern=r"^(\d+|\*)(/\d+)?(\s+(\d+|\*)(/\d+)?){4}$")
    image: str = ""
    replicas: int = Field(1, ge=1, le=10)
"""


def crontab(group: str, namespace: str, spec: dict[str, Any]) -> dict[str, Any]:
    """Return a CronTab as in a file."""
    metadata = {"name": "my-new-cron-object", "namespace": namespace}
    return {"apiVersion": f"{group}/v1", "kind": "CronTab", "metadata": metadata, "spec": spec}
