"""Clusters from kubeconfig files that change: edited in place, swapped by symlink, broken and repaired."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from pyctrl.client import Anonymous, Config, is_same_login
from pyctrl.manager import KubeconfigProvider
from tests.unit.client._authority import Authority


def kubeconfig(*, current: str = "", **servers: str) -> str:
    """Return a kubeconfig with a context for each server; its token is its name, or the text after a space."""
    content: dict[str, Any] = {"apiVersion": "v1", "kind": "Config", "current-context": current}
    content["clusters"] = [
        {"name": f"c-{name}", "cluster": {"server": f"https://{at.split()[0]}"}} for name, at in servers.items()
    ]
    content["users"] = [{"name": f"u-{name}", "user": {"token": at.split()[-1]}} for name, at in servers.items()]
    content["contexts"] = [{"name": name, "context": {"cluster": f"c-{name}", "user": f"u-{name}"}} for name in servers]
    return yaml.safe_dump(content)


def test_a_login_that_was_read_twice_is_one() -> None:
    """An unchanged kubeconfig is the same login when read again; a changed token is a new login."""

    def read(token: str) -> Config:
        return Config.from_kubeconfig_text(kubeconfig(current="a", a=f"one {token}"))

    assert is_same_login(read("x"), read("x"))
    assert not is_same_login(read("x"), read("y"))
    assert not is_same_login(read("x"), replace(read("x"), namespace="other"))
    assert not is_same_login(read("x"), replace(read("x"), credentials=Anonymous()))


class Follower:
    """The clusters that a provider has reported so far."""

    def __init__(self) -> None:
        self.told: list[Mapping[str, Config]] = []

    @property
    def servers(self) -> dict[str, str]:
        return {name: config.server.removeprefix("https://") for name, config in self.told[-1].items()}


@asynccontextmanager
async def following(provider: KubeconfigProvider) -> AsyncIterator[Follower]:
    """Follow a provider during the block."""
    follower = Follower()

    async def follow() -> None:
        async with aclosing(provider.follow()) as told:  # type: ignore[type-var]  # it is a generator
            async for clusters in told:
                follower.told.append(clusters)

    task = asyncio.create_task(follow())
    await asyncio.sleep(1)
    try:
        yield follower
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_each_context_of_a_file_is_a_cluster(tmp_path: Path) -> None:
    """Each context of a file is a cluster; files are read every ten seconds; unchanged logins keep their connection."""
    path = tmp_path / "config"
    path.write_text(kubeconfig(a="one", b="two"))
    async with following(KubeconfigProvider(path)) as follower:
        assert follower.servers == {"a": "one", "b": "two"}
        before = follower.told[-1]
        path.write_text(kubeconfig(a="one", b="two renewed", c="three"))
        await asyncio.sleep(10)
        assert follower.servers == {"a": "one", "b": "two", "c": "three"}
        assert follower.told[-1]["a"] is before["a"]
        assert follower.told[-1]["b"] != before["b"]
        path.write_text(kubeconfig(c="three"))
        await asyncio.sleep(3600)
        assert follower.servers == {"c": "three"}
        assert len(follower.told) == 3


async def test_each_file_of_a_directory_is_a_cluster(tmp_path: Path) -> None:
    """Each file of a directory is a cluster named by the file, with its current context; hidden files are skipped."""
    (tmp_path / "west.yaml").write_text(kubeconfig(current="x", x="one", y="none"))
    (tmp_path / "east").write_text(kubeconfig(current="x", x="two"))
    (tmp_path / ".hidden").write_text("no kubeconfig")
    async with following(KubeconfigProvider(tmp_path)) as follower:
        assert follower.servers == {"west": "one", "east": "two"}
        (tmp_path / "east").unlink()
        (tmp_path / "north.kubeconfig").write_text(kubeconfig(current="n", n="three"))
        await asyncio.sleep(10)
        assert follower.servers == {"west": "one", "north": "three"}


async def test_a_mounted_secret_is_followed(tmp_path: Path) -> None:
    """Changes of a mounted Secret are seen: kubelet swaps a symlink to a directory, and nothing else changes."""
    for number, content in ((1, {"a": "one"}), (2, {"a": "two", "b": "three"})):
        version = tmp_path / f"..version_{number}"
        version.mkdir()
        for name, server in content.items():
            (version / name).write_text(kubeconfig(current="x", x=server))
    (tmp_path / "..data").symlink_to("..version_1")
    (tmp_path / "a").symlink_to("..data/a")
    async with following(KubeconfigProvider(tmp_path)) as follower:
        assert follower.servers == {"a": "one"}
        (tmp_path / "..next").symlink_to("..version_2")
        (tmp_path / "..next").replace(tmp_path / "..data")
        (tmp_path / "b").symlink_to("..data/b")
        await asyncio.sleep(10)
        assert follower.servers == {"a": "two", "b": "three"}


async def test_what_is_broken_is_told_once_and_was_good_before_stays(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A broken file, a deleted file or a context without user logs one warning, and the last good login stays."""
    path = tmp_path / "config"
    path.write_text(kubeconfig(a="one", b="two"))
    async with following(KubeconfigProvider(path)) as follower:
        with caplog.at_level(logging.WARNING):
            path.write_text("clusters: [half")
            await asyncio.sleep(100)
            path.unlink()
            await asyncio.sleep(100)
            assert follower.servers == {"a": "one", "b": "two"}
            content = yaml.safe_load(kubeconfig(a="one", b="four"))
            del content["users"][0]
            path.write_text(yaml.safe_dump(content))
            await asyncio.sleep(100)
            assert follower.servers == {"a": "one", "b": "four"}
            assert len(follower.told) == 2
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 3
    assert "is not YAML" in told[0]
    assert "does not exist" in told[1]
    assert "cluster 'a' unchanged: context 'a'" in told[2]
    assert "names user 'u-a'" in told[2]


async def test_a_path_that_is_not_there_yet_is_waited_for(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A missing path is no error, and is read once it exists; of two clusters with one name, the first path wins."""
    first, second = tmp_path / "first", tmp_path / "second"
    second.write_text(kubeconfig(a="two", b="three", c="unasked"))
    async with following(KubeconfigProvider(first, second, contexts=["a", "b"])) as follower:
        assert follower.servers == {"a": "two", "b": "three"}
        first.write_text(kubeconfig(a="one"))
        await asyncio.sleep(10)
        assert follower.servers == {"a": "one", "b": "three"}
    assert [record.getMessage() for record in caplog.records] == [
        f"Failed to read kubeconfigs, keeping their clusters: {first} does not exist"
    ]


@pytest.mark.parametrize("trusted", [False, True])
async def test_programs_and_files_need_trust(tmp_path: Path, caplog: pytest.LogCaptureFixture, trusted: bool) -> None:
    """A kubeconfig that names a program to run is refused, unless the provider trusts its source."""
    content = yaml.safe_load(kubeconfig(a="one", b="two"))
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": "aws"}
    content["users"][0]["user"] = {"exec": plugin}
    path = tmp_path / "config"
    path.write_text(yaml.safe_dump(content))
    async with following(KubeconfigProvider(path, trusted=trusted)) as follower:
        assert follower.servers == ({"a": "one", "b": "two"} if trusted else {"b": "two"})
    assert ["pass trusted=True" in record.getMessage() for record in caplog.records] == [True] * (not trusted)


async def test_a_hostile_file_is_told_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A kubeconfig that would crash a C parser logs a warning, and other files are still used."""
    (tmp_path / "bad").write_text("[" * 60_000)
    (tmp_path / "good").write_text(kubeconfig(current="a", a="one"))
    async with following(KubeconfigProvider(tmp_path)) as follower:
        assert follower.servers == {"good": "one"}
    assert "nested more than 100 levels deep" in caplog.text


async def test_a_certificate_file_that_comes_later_is_used(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A context whose certificate authority cannot be read is tried again, although its kubeconfig does not change."""
    authority, path = tmp_path / "ca.crt", tmp_path / "config"
    content = yaml.safe_load(kubeconfig(a="one", b="two"))
    content["clusters"][1]["cluster"]["certificate-authority"] = str(authority)
    path.write_text(yaml.safe_dump(content))
    async with following(KubeconfigProvider(path, trusted=True)) as follower:
        assert follower.servers == {"a": "one"}
        before = follower.told[-1]["a"]
        await asyncio.sleep(60)
        assert len([text for text in caplog.messages if "keeping cluster 'b'" in text]) == 1
        authority.write_bytes(Authority().pem)
        await asyncio.sleep(10)
        assert follower.servers == {"a": "one", "b": "two"}
        assert follower.told[-1]["a"] is before
