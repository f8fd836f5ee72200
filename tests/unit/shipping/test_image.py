"""The image of a program: what is in the Dockerfile, and what builds it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pyctrl.errors import CommandFailed
from pyctrl.shipping import Settings, find_tool, image_of
from tests.unit.shipping._programs import EXAMPLES


def test_a_file_is_run_by_nobody_in_particular(tmp_path: Path) -> None:
    """Two stages by version, no shell, a user who is not root, and the file as what pyctrl runs."""
    (tmp_path / "podset.py").write_text("")
    image = image_of(Settings(program="podset.py", image="podset:1", root=tmp_path))
    lines = image.dockerfile.splitlines()
    bases = [line for line in lines if line.startswith("FROM ")]
    assert [bool(re.fullmatch(r"FROM python:\d+\.\d+\.\d+-slim-\w+( AS build)?", each)) for each in bases] == [True] * 2
    assert lines[-3:] == ["COPY podset.py podset.py", "USER 65532:65532", 'ENTRYPOINT ["pyctrl", "run", "podset.py"]']
    (install,) = [json.loads(line.removeprefix("RUN ")) for line in lines if line.startswith("RUN ")]
    assert re.fullmatch(r"pyctrl-runtime\[metrics,webhook\]==[\d.]+\S*", install[-1])
    assert image.command("podman") == ["podman", "build", "--file", "-", "--tag", "podset:1", str(tmp_path)]


def test_what_is_locked_is_installed_by_hash(tmp_path: Path) -> None:
    """A requirements.txt beside the program says what is in the image."""
    (tmp_path / "podset.py").write_text("")
    (tmp_path / "requirements.txt").write_text("")
    text = image_of(Settings(program="podset.py:add", root=tmp_path)).dockerfile
    assert "COPY requirements.txt ./\n" in text
    assert '"--require-hashes", "--requirement=requirements.txt"' in text
    assert text.endswith('ENTRYPOINT ["pyctrl", "run", "podset.py:add"]\n')


def test_a_package_is_copied_whole() -> None:
    """What a file in a package imports is there."""
    image = image_of(Settings(program=str(EXAMPLES / "podset" / "podset.py")))
    assert image.context == EXAMPLES.parent
    assert "COPY examples examples\n" in image.dockerfile
    assert image.dockerfile.endswith('ENTRYPOINT ["pyctrl", "run", "examples.podset.podset"]\n')


def test_a_dockerfile_of_the_author_is_used(tmp_path: Path) -> None:
    """As it is."""
    (tmp_path / "podset.py").write_text("")
    (tmp_path / "Dockerfile").write_text("FROM scratch\n")
    image = image_of(Settings(program="podset.py", root=tmp_path))
    assert (image.is_own, image.dockerfile) == (True, "FROM scratch\n")


def test_what_builds_is_found_or_said() -> None:
    """CONTAINER_TOOL counts first, then docker, then podman; without any it says what to install."""
    both: dict[str, str | None] = {"docker": "here", "podman": "here"}
    assert find_tool({"CONTAINER_TOOL": "nerdctl"}, both) == "nerdctl"
    assert find_tool({}, both) == "docker"
    assert find_tool({}, {"docker": None, "podman": "here"}) == "podman"
    with pytest.raises(CommandFailed, match="install docker or podman, or name another tool in CONTAINER_TOOL"):
        find_tool({}, {})
