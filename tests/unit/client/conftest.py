"""Fixtures of the client's tests: a scripted server, and a client of it."""

from __future__ import annotations

from random import Random

import pytest

from pyctrl.client import Client, InProcessTransport
from tests.unit.client._fake_server import FakeServer


@pytest.fixture
def server() -> FakeServer:
    """A scripted API server."""
    return FakeServer()


@pytest.fixture
def client(server: FakeServer) -> Client:
    """A client of the scripted server."""
    return Client(InProcessTransport(server), random=Random(1))
