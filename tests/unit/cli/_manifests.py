"""A program for tests of manifests."""

from __future__ import annotations

from pathlib import Path

PODSET = Path(__file__).parents[3] / "examples" / "podset"
