"""pytest plugin: the fixture ``explore``."""

from __future__ import annotations

__all__: list[str] = []
