"""The client as a whole: what derived clients share with it, and what subclasses keep."""

from __future__ import annotations

from typing import Any, cast

import pytest

from pyctrl.api import CustomResource, Key, Model, Unstructured
from pyctrl.client import Client, InProcessTransport, Transport, in_namespace, with_field_owner
from pyctrl.errors import NotRegistered
from tests.unit.client._fake_server import FakeServer


class Widget(CustomResource[Model], group="demo.test", version="v1"):
    """A kind."""


KEY = Key("default", "a")


class NamedClient(Client):
    """A user's client with additional arguments and attributes."""

    def __init__(self, name: str, transport: Transport) -> None:
        super().__init__(transport)
        self.name = name


def test_a_derived_client_of_a_subclass_keeps_its_attributes(server: FakeServer) -> None:
    """Deriving copies the client: it does not call the constructor of its class."""
    client = NamedClient("mine", InProcessTransport(server))

    derived = with_field_owner(in_namespace(client, "default"), "me")

    assert isinstance(derived, NamedClient)
    assert derived.name == "mine"
    assert (derived.options.namespace, derived.options.field_owner) == ("default", "me")
    assert (client.options.namespace, client.options.field_owner) == ("", "pyctrl")


async def test_the_class_unstructured_names_no_kind(client: Client, server: FakeServer) -> None:
    """Only a GroupVersionKind reads untyped objects; type checkers cannot refuse their class."""
    with pytest.raises(NotRegistered, match="Unstructured"):
        await client.get(Unstructured, KEY)
    assert server.asked == []


@pytest.mark.parametrize("verb", ["create", "update", "patch", "apply", "delete", "delete_all_of"])
async def test_an_option_that_a_verb_lacks_is_refused_by_its_name(client: Client, verb: str) -> None:
    """The TypeError for an unknown option names the called verb and the option."""
    with pytest.raises(TypeError, match=rf"{verb}\(\) got an unexpected keyword argument 'forced'"):
        await cast(Any, getattr(client, verb))(Widget, forced=True)
