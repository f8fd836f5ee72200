"""The pip requirement that installs the same pyctrl, from the metadata that pip recorded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from pyctrl._distribution import DISTRIBUTION, direct_reference, for_any_pip

COMMIT = "3f786850e387550fdab836ed7e6dc881de23001b"


@pytest.mark.parametrize(
    ("recorded", "reference"),
    [
        ({"url": "file:///src/pyctrl", "dir_info": {"editable": True}}, "file:///src/pyctrl"),
        ({"url": "file:///src/pyctrl", "dir_info": {}}, "file:///src/pyctrl"),
        (
            {
                "url": "https://git.example/p.git",
                "vcs_info": {"vcs": "git", "commit_id": COMMIT, "requested_revision": "main"},
            },
            f"git+https://git.example/p.git@{COMMIT}",
        ),
        (
            {
                "url": "ssh://git@git.example/p.git",
                "vcs_info": {"vcs": "git", "commit_id": COMMIT},
                "subdirectory": "python",
            },
            f"git+ssh://git@git.example/p.git@{COMMIT}#subdirectory=python",
        ),
        ({"url": "file:///d/p-1-py3-none-any.whl", "archive_info": {"hashes": {"sha256": "0a"}}}, None),
        (
            {"url": "https://files.example/p-1.tar.gz", "archive_info": {"hashes": {"sha256": "0a"}}},
            "https://files.example/p-1.tar.gz#sha256=0a",
        ),
        (
            {"url": "https://files.example/p-1.tar.gz", "archive_info": {"hash": "sha256=0a"}},
            "https://files.example/p-1.tar.gz#sha256=0a",
        ),
        ({"url": "https://files.example/p-1.zip", "archive_info": {}}, "https://files.example/p-1.zip"),
    ],
)
def test_what_pip_recorded_is_what_pip_installs(recorded: dict[str, object], reference: str | None) -> None:
    """Each form of PEP 610 becomes a direct reference of PEP 508: a commit for a VCS, a hash for a remote archive."""
    assert direct_reference(json.dumps(recorded)) == (recorded["url"] if reference is None else reference)
    assert Requirement(f"{DISTRIBUTION}[test] @ {direct_reference(json.dumps(recorded))}").extras == {"test"}


def test_a_local_repository_is_installed_from_its_checkout(tmp_path: Path) -> None:
    """A reference to a local repository becomes its directory, because pip refuses git+file:/// as a dependency."""
    reference = f"git+{tmp_path.as_uri()}@{COMMIT}"
    assert for_any_pip(reference) == reference
    (tmp_path / "pyproject.toml").touch()
    assert for_any_pip(reference) == tmp_path.as_uri()
    assert for_any_pip(f"git+https://git.example/p.git@{COMMIT}") == f"git+https://git.example/p.git@{COMMIT}"
