"""CRDs, and changes to them."""

from __future__ import annotations

from pathlib import Path

from tests.unit.manifests.test_validator import DEFINITION

NARROWER = DEFINITION.replace("minimum: 0", "minimum: 1").replace(
    "default: red", "default: blue, description: A colour"
)


def _written(folder: Path, text: str) -> Path:
    file = folder / "new.yaml"
    file.write_text(text)
    return file
