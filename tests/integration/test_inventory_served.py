"""The inventory in a pod, with mounted credentials, and as a process, with a kubeconfig."""

from __future__ import annotations

import asyncio
import re
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from pyctrl.client import Client, Config
from pyctrl.testing import ClusterUnderTest
from tests.integration._inventory import ACCOUNT, STUB, Site, over_https, prepared
from tests.integration._processes import Operator, example_process

pytestmark = [pytest.mark.rbac, pytest.mark.slow("keys are made, and processes started")]


@pytest.fixture
async def site(cluster: ClusterUnderTest, client: Client, namespace: str) -> AsyncIterator[Site]:
    """A cluster reached over HTTPS, where the account of the inventory has its roles."""
    async with over_https(cluster) as served, prepared(served, namespace) as site:
        await site.allow()
        yield site
        await site.forbid()


async def become_a_pod(site: Site, account: str, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set up a container's environment: the address as variables, and a directory with three files."""
    login = await site.login(account)
    address = urlsplit(login.server)
    assert login.tls.ca is not None
    (directory / "ca.crt").write_bytes(login.tls.ca.read())
    (directory / "namespace").write_text(site.namespace)
    (directory / "token").write_text((await login.credentials.authorization() or "").removeprefix("Bearer ") + "\n")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", str(address.hostname))
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(address.port))


async def test_in_a_pod_it_is_the_account_of_the_pod(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without flags the mounted token logs in: `default` is refused everything, the inventory's account nothing."""
    await become_a_pod(site, "default", tmp_path, monkeypatch)
    async with site.visit(Config.from_flags("", "", service_account=tmp_path)) as visitor:
        code, answer = await visitor.get("/nodes")
        assert code == 403
        assert f'User "system:serviceaccount:{site.namespace}:default"' in answer["ErrStatus"]["message"]

    await become_a_pod(site, ACCOUNT, tmp_path, monkeypatch)
    async with site.visit(Config.from_flags("", "", service_account=tmp_path)) as visitor:
        for path in ("/nodes", "/namespaces", "/deployments", f"/services?ns={site.namespace}"):
            assert (await visitor.get(path))[0] == 200
        for path in ("/deployments", "/services"):
            assert (await visitor.post(path))[0] == 200
        assert await visitor.delete(f"/{STUB}") == (200, None)


async def test_outside_of_the_cluster_it_is_who_the_kubeconfig_says(site: Site, tmp_path: Path) -> None:
    """With --kubeconfig the process serves, logs its address, and ends with 0 on SIGTERM."""
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text((await site.login(ACCOUNT)).to_kubeconfig())
    options = ("--kubeconfig", str(kubeconfig), "--port", "0", "--namespace", site.namespace)
    async with example_process("inventory", *options) as process, aiohttp.ClientSession() as session:
        url = await address_of(process)
        async with session.get(f"{url}/nodes") as answer:
            assert (answer.status, sorted(await answer.json())) == (200, ["items", "metadata"])
        async with session.get(f"{url}/healthz") as answer:
            assert (answer.status, await answer.text()) == (200, "ok")
        assert await process.end(signal.SIGTERM) == 0
        await process.says("stopped")


async def test_what_has_begun_is_answered_before_it_ends() -> None:
    """After SIGTERM a pending request still gets its answer, then the process ends with 0."""
    asked, answers = asyncio.Event(), asyncio.Event()

    async def think(request: web.Request) -> web.Response:
        asked.set()
        await answers.wait()
        return web.json_response({"kind": "NodeList", "apiVersion": "v1", "metadata": {}, "items": []})

    slow = web.Application()
    slow.router.add_get("/api/v1/nodes", think)
    async with (
        TestServer(slow) as server,
        asyncio.TaskGroup() as group,
        example_process("inventory", "--master", str(server.make_url("/")), "--port", "0") as process,
    ):
        url = await address_of(process)
        nodes = group.create_task(fetched(f"{url}/nodes"))
        await asked.wait()
        ended = group.create_task(process.end(signal.SIGTERM))
        with pytest.raises(aiohttp.ClientConnectionError):
            while True:  # until it has received the signal and accepts no connections
                await fetched(f"{url}/healthz")
        answers.set()
        assert await nodes == '{"metadata": {}, "items": []}'
        assert await ended == 0


async def fetched(url: str) -> str:
    """Return the response to a GET."""
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        return await answer.text()


async def address_of(process: Operator) -> str:
    """Return the address that the process logs."""
    line = await process.says("inventory: serving")
    found = re.search(r"address=(\S+) port=(\d+)", line)
    assert found is not None
    return f"http://{found[1]}:{found[2]}"


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--kubeconfig", "missing"], "inventory: no such file: missing"),
        (["--master", "ftp://host"], "inventory: --master: 'ftp://host' is not the address of a server"),
        (["--master", "host", "--port", "65536"], "inventory: cannot listen at --address 127.0.0.1 --port 65536: "),
        # An unassigned address: RFC 5737.
        (["--master", "host", "--address", "192.0.2.1"], "inventory: cannot listen at --address 192.0.2.1 --port 8080"),
    ],
)
async def test_what_cannot_work_is_one_sentence(options: list[str], complaint: str) -> None:
    """A startup error is one sentence without a traceback, and exit code 1."""
    async with example_process("inventory", *options) as process:
        assert await process.exit_code() == 1
        assert (await process.says("inventory:")).startswith(complaint)
        assert not any("Traceback" in line for line in process.log)
