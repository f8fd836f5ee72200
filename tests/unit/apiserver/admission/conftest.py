"""Fixtures of tests of admission."""

from __future__ import annotations

import pytest

from tests.unit.apiserver._hooks import World


@pytest.fixture
def world() -> World:
    """Return a server that calls webhooks in this process."""
    return World()
