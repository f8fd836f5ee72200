"""A program for tests of bundles."""

from __future__ import annotations

from pathlib import Path

PODSET = Path(__file__).parents[4] / "examples" / "podset"


CSV = Path("bundle", "manifests", "podset.clusterserviceversion.yaml")
