"""Options of requests: selectors and versions as query parameters."""

from __future__ import annotations

import pytest

from pyctrl.api import CustomResource, Model
from pyctrl.client import Client
from pyctrl.errors import SelectorError
from tests.unit.client._fake_server import FakeServer


class WidgetSpec(Model):
    size: int


class Widget(CustomResource[WidgetSpec], group="demo.test", version="v1"):
    """A namespaced kind with a required field."""


async def test_list_options(client: Client, server: FakeServer) -> None:
    """Selectors, limit, token and version are sent as query parameters."""
    server.reply({"metadata": {"resourceVersion": "7"}, "items": []})

    await client.list(
        Widget,
        namespace="default",
        labels={"app": "x"},
        fields="metadata.name=a",
        limit=5,
        continue_token="t",
        resource_version="3",
        resource_version_match="Exact",
    )

    assert server.asked[0].path == "/apis/demo.test/v1/namespaces/default/widgets"
    assert server.asked[0].query == {
        "labelSelector": "app=x",
        "fieldSelector": "metadata.name=a",
        "limit": "5",
        "continue": "t",
        "resourceVersion": "3",
        "resourceVersionMatch": "Exact",
    }


async def test_bad_selector(client: Client) -> None:
    """An invalid selector raises before anything is sent."""
    with pytest.raises(SelectorError):
        await client.list(Widget, labels="a in (")
