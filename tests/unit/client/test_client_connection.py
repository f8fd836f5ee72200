"""The connection that derived clients share."""

from __future__ import annotations

from pyctrl.client import Client, in_namespace, with_field_owner


def test_a_derived_client_shares_the_connection(client: Client) -> None:
    """A derived client shares transport, discovery, observers and the memory of applies."""
    derived = in_namespace(client, "default")

    assert derived.connection is client.connection
    assert derived.discovery is client.discovery
    assert derived.transport is client.transport


def test_a_client_of_a_connection_has_options_of_its_own(client: Client) -> None:
    """Two clients of one connection have independent options."""
    other = Client(with_field_owner(client, "me").connection)

    assert other.connection is client.connection
    assert other.options.field_owner == "pyctrl"
