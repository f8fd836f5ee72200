"""What operators asked for during a session of tests: kept, written to a file, compared with what is declared."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyctrl.rbac import Asked

__all__ = ["keep"]

ASKED: pytest.StashKey[list[Asked]] = pytest.StashKey()


def keep(config: pytest.Config, asked: Iterable[Asked]) -> None:
    """Keep what was asked for until the end of the session."""
    config.stash.setdefault(ASKED, []).extend(asked)
