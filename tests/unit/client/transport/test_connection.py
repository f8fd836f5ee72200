"""Which logins are the same, and what becomes of requests when a login is replaced or shut."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pyctrl.apiserver import ApiServer
from pyctrl.client import Config, HttpRequest, Transport
from pyctrl.client._login.credentials import BearerToken
from pyctrl.client._transport.connection import SwitchableTransport, is_same_login
from pyctrl.errors import ConfigError
from pyctrl.testing import FaultyTransport

REQUEST = HttpRequest(method="GET", path="/version")


def login(token: str) -> Config:
    """Return a login, as one read of a kubeconfig would."""
    return Config(server="https://kind:6443", credentials=BearerToken(token, origin="a test"))


def test_logins_are_the_same_if_address_and_credentials_are() -> None:
    """Two reads of one login are the same, and another token or another server makes another login."""
    assert is_same_login(login("a"), login("a"))
    assert not is_same_login(login("a"), login("b"))
    assert not is_same_login(login("a"), replace(login("a"), server="https://other:6443"))


async def test_after_a_switch_requests_go_to_the_new_login() -> None:
    """Requests before a switch are sent with the old login, and those after it with the new one."""
    sent: list[FaultyTransport] = []

    def noted(inner: Transport) -> Transport:
        sent.append(FaultyTransport(inner))
        return sent[-1]

    def login_of_a_server() -> Config:
        return replace(Config.in_process(ApiServer()), wrap_transport=noted)

    transport = SwitchableTransport(login_of_a_server())
    await transport.request(REQUEST)
    await transport.switch(login_of_a_server())
    for _ in range(2):
        await transport.request(REQUEST)
    assert [len(each.requests) for each in sent] == [1, 2]
    await transport.aclose()


async def test_a_shut_transport_raises_the_given_error() -> None:
    """Every request after a shut raises the error that was given for it."""
    transport = SwitchableTransport(Config.in_process(ApiServer()))
    transport.shut(lambda: ConfigError("the cluster was removed"))
    with pytest.raises(ConfigError, match="the cluster was removed"):
        await transport.request(REQUEST)
    await transport.aclose()
