"""The part of a kind that is watched, from what is needed of it."""

from __future__ import annotations

import pytest

from pyctrl.api import Key
from pyctrl.controller import Builder, reading
from pyctrl.errors import CacheError, NotCovered
from pyctrl.kinds.core.v1 import Secret
from pyctrl.rbac import allow
from tests.unit.controller._hosts import config_map, make_host, running, settle
from tests.unit.controller.reads._readers import Readers, named_secret, secret


async def test_a_declaration_for_namespaces_and_names_watches_and_needs_only_these() -> None:
    """`namespaces` and `names` restrict what is watched, the permissions, and what can be read."""
    host, readers = make_host(), Readers(named_secret)
    readers.reads = (reading(Secret, namespaces="default", names=["db", "mail"]),)  # type: ignore[assignment]
    controller = Builder(host).build(readers)
    needed = [allow(Secret, "list", "watch", names=[name], where={"default"}) for name in ("db", "mail")]
    assert [each for each in controller.rbac if each in needed] == needed
    async with running(host) as client:
        for name in ("db", "other"):
            await client.create(secret(name))
        await client.create(config_map("web", secret="db"))
        await settle()
        assert readers.take() == ["web"]
        await client.delete(secret("other"))
        await client.delete(secret("db"))
        await settle()
        assert readers.take() == ["web"]
        with pytest.raises(NotCovered):
            await host.client.find(Secret, Key("default", "other"))


async def test_two_declarations_are_watched_together() -> None:
    """Two controllers that read parts of a kind have both parts; one that reads all of it has everything."""
    host = make_host()
    for name, declared in (("one", reading(Secret, names="a")), ("two", reading(Secret, namespaces=["kube-public"]))):
        readers = Readers(named_secret)
        readers.reads = (declared,)  # type: ignore[assignment]
        Builder(host).options(name=name).build(readers)
    assert len(host.cache.informer(Secret, names=["a"]).rbac) == 2
    assert [each.rule.names for each in host.cache.informer(Secret).rbac] == [()]


async def test_a_kind_that_is_watched_in_part_cannot_be_widened_later() -> None:
    """What is needed of a kind must be declared before it is watched; the error says so."""
    host, readers = make_host(), Readers(named_secret)
    readers.reads = (reading(Secret, names="db"),)  # type: ignore[assignment]
    Builder(host).build(readers)
    async with running(host):
        with pytest.raises(CacheError, match="Secret is watched already, and not all of it; declare"):
            host.cache.informer(Secret)
