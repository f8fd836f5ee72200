"""Tests that the commands of docs/crd-tools.md print the output of the page."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Run

PAGE = Path(__file__).parents[3] / "docs" / "crd-tools.md"
BLOCK = re.compile(r"^```(yaml|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_commands_of_the_page(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command prints the output below it, in a folder with the files that the page has shown before."""
    monkeypatch.chdir(tmp_path)
    commands = 0
    for kind, text in BLOCK.findall(PAGE.read_text()):
        if kind == "yaml":
            name, content = text.removeprefix("# ").split("\n", 1)
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(content)
            continue
        code = 0
        for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
            commands += 1
            if command == "echo $?":
                assert output == f"{code}\n"
                continue
            ran = run(*shlex.split(command)[1:])
            code = ran.code
            assert ran.out + ran.err == output, command

    assert commands == 8
