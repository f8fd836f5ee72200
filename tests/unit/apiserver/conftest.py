"""A fresh server for every test."""

from __future__ import annotations

import pytest

from tests.unit.apiserver._kit import Asker


@pytest.fixture
def ask() -> Asker:
    """A server whose names and uids are the same in every run."""
    return Asker()
