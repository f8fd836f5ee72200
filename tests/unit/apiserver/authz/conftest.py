"""Fixtures of tests of authorization."""

from __future__ import annotations

import pytest

from tests.unit.apiserver.authz._rbac import Guarded


@pytest.fixture
def ask() -> Guarded:
    """Return a server with RBAC."""
    return Guarded()
