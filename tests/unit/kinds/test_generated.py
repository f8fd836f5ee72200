"""The checked-in kinds are what the generator makes of the checked-in schemas."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pyctrl import _schemas

ROOT = Path(__file__).resolve().parents[3]


def check(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "tools/generate_kinds.py", "--check"], cwd=root, capture_output=True, text=True, check=False
    )


@pytest.mark.slow("generates and formats all kinds")
def test_checked_in_kinds_are_fresh() -> None:
    """Running the generator would change nothing."""
    result = check(ROOT)
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr


@pytest.mark.slow("generates and formats all kinds")
def test_stale_kinds_are_found(tmp_path: Path) -> None:
    """A file changed by hand and a file too many fail the check, which shows the difference."""
    for name in ("pyproject.toml", "tools", "src/pyctrl/kinds"):
        source, target = ROOT / name, tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    changed = tmp_path / "src/pyctrl/kinds/node/v1.py"
    changed.write_text(changed.read_text() + "\nEXTRA = 1\n")
    (tmp_path / "src/pyctrl/kinds/old.py").write_text("OLD = 1\n")
    result = check(tmp_path)
    assert result.returncode == 1
    assert "-EXTRA = 1" in result.stdout
    assert "-OLD = 1" in result.stdout
    assert "2 files of pyctrl.kinds are stale" in result.stderr


def test_every_document_is_listed() -> None:
    """The list of group versions and the documents beside it agree, and each can be loaded."""
    present = {path.stem for path in Path(_schemas.__file__).parent.glob("*.json")}
    assert present == {
        *_schemas.GROUP_VERSIONS,
        "bootstrap_objects",
        "discovery",
        "go_fields",
        "go_types",
        "protobuf",
        "rbac_policy",
        "tables",
    }
    for name in _schemas.GROUP_VERSIONS:
        document = _schemas.load(name)
        assert document["path"].startswith("api")
        assert document["schemas"]
