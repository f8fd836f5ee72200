"""Calls of a verb with the wrong arguments."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from pyctrl.api import CustomResource, Key, Metadata, Model, ObjectMeta
from pyctrl.apiserver import ApiServer
from pyctrl.client import (
    Client,
    InProcessTransport,
)
from pyctrl.kinds.core.v1 import ConfigMap


class WidgetSpec(Model):
    size: int = 1
    colours: list[str] = []


class Widget(CustomResource[WidgetSpec], group="demo.test", version="v1"):
    """A namespaced kind."""


def wire(name: str = "a", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "demo.test/v1",
        "kind": "Widget",
        "metadata": {"name": name, "namespace": "default", "uid": "u", "resourceVersion": "5"},
        "spec": spec,
    }


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda client: client.patch(ConfigMap, Key("a", "b")), r"expected 3 arguments \(kind, key, patch\), got 2"),
        (
            lambda client: client.patch(ConfigMap(metadata=ObjectMeta.from_wire({"name": "a"}))),
            r"expected 2 arguments \(object, patch\)",
        ),
        (lambda client: client.patch(ConfigMap, Key("a", "b"), {}), r"expected a patch, such as MergePatch.*dict"),
        (lambda client: client.subresource("x").get(ConfigMap), r"expected 2 arguments \(kind, key\), got 1"),
        (lambda client: client.delete(ConfigMap), "pass a key after a kind"),
    ],
)
async def test_a_verb_that_lacks_an_argument_says_which(call: Callable[[Any], Awaitable[object]], message: str) -> None:
    """The error names the expected arguments, also for verbs with two call forms."""
    with pytest.raises(TypeError, match=message):
        await call(Client(InProcessTransport(ApiServer())))


async def test_metadata_cannot_be_written_whole(client: Client) -> None:
    """Replacing an object by its metadata, which would delete its other fields, is refused."""
    view = Metadata[Widget].from_wire(wire())

    with pytest.raises(TypeError, match="Metadata is only a part of the object; patch it instead"):
        await client.update(view)


async def test_a_class_is_no_object(client: Client) -> None:
    """Passing a class instead of an object is refused."""
    with pytest.raises(TypeError, match="pass a key after a kind"):
        await client.update(Widget)  # type: ignore[type-var]


async def test_apply_a_dict_without_a_kind(client: Client) -> None:
    """A dict without apiVersion and kind cannot be applied."""
    with pytest.raises(ValueError, match="needs apiVersion and kind"):
        await client.apply({"metadata": {"name": "a"}})
