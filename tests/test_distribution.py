"""The name of the distribution, wherever pip reads it or a user copies it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from pyctrl._distribution import DISTRIBUTION, direct_reference, requirement, version

ROOT = Path(__file__).resolve().parent.parent
#: Files that people read, run or install; CHANGELOG.md describes the past.
PLACES = (".ci", "benchmarks", "docs", "examples", "src", "tests", "tools", "CONTRIBUTING.md", "Makefile", "README.md")
SUFFIXES = frozenset({"", ".cfg", ".md", ".py", ".sh", ".toml", ".txt", ".yaml", ".yml"})

#: The bare name as pip would read it. A path such as ./pyctrl[test] is not a name.
BARE = (
    re.compile(r"(?<![\w./-])pyctrl\\*\[[a-z]"),  # with extras
    re.compile(r"(?<![\w./-])pyctrl ?(==|~=|>=|<=|!=|@ ?(git|file|http))"),  # with a version or an address
    re.compile(r"\b(pip|pipx|uv)\b[^\n`]* (install|add)\b[^\n`]*[ '\"]pyctrl(?=['\"` ]|$)", re.MULTILINE),
    re.compile(r"\b(version|distribution|metadata|requires|files)\(['\"]pyctrl['\"]\)"),  # of importlib.metadata
)


def texts() -> Iterator[tuple[Path, str]]:
    for place in (ROOT / each for each in PLACES):
        for path in place.rglob("*") if place.is_dir() else (place,):
            if (
                path.is_file()
                and path.suffix in SUFFIXES
                and path != Path(__file__)
                and "conformance" not in path.parts
            ):
                yield path.relative_to(ROOT), path.read_text(errors="replace")


@pytest.mark.slow(reason="it reads every file of the repository")
def test_the_bare_name_is_nowhere_pip_would_take_it() -> None:
    """No command, message, page or template tells a user to install PyPI's `pyctrl`, another project."""
    found = [
        f"{path}:{text[: match.start()].count(chr(10)) + 1}: {match.group()}"
        for path, text in texts()
        for pattern in BARE
        for match in pattern.finditer(text)
    ]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "pip install pyctrl",
        "pip install -q 'pyctrl[test]'",
        'dependencies = ["pyctrl[webhook,metrics]"]',
        "pyctrl==0.1.0",
        "pyctrl @ git+https://example.com",
        'version("pyctrl")',
        "$ pip install --upgrade pyctrl\n",
    ],
)
def test_the_bare_name_is_recognised(text: str) -> None:
    """The patterns match the bare name, but not the name of the distribution."""
    assert any(pattern.search(text) for pattern in BARE)
    assert not any(pattern.search(text.replace("pyctrl", DISTRIBUTION)) for pattern in BARE)


def test_files_that_pip_reads_ask_for_the_distribution() -> None:
    """No pyproject.toml or requirements file of the repository depends on the other project."""
    names = set()
    for path in ROOT.rglob("pyproject.toml"):
        if ".venv" not in path.parts:
            project = tomllib.loads(path.read_text()).get("project", {})
            groups = [project.get("dependencies", []), *project.get("optional-dependencies", {}).values()]
            names |= {Requirement(each).name for group in groups for each in group} | {project.get("name")}
    for path in (*ROOT.glob("examples/*requirements*.txt"), *ROOT.glob("benchmarks/**/requirements*.txt")):
        names |= set(re.findall(r"^[\w.-]+", path.read_text(), re.MULTILINE))
    assert "pyctrl" not in names
    assert DISTRIBUTION in names


COMMIT = "3f786850e387550fdab836ed7e6dc881de23001b"


def test_the_source_of_a_requirement_can_be_named() -> None:
    """A version allows itself and later fixes; a URL is used as it is."""
    assert requirement("test", source="0.2.1") == f"{DISTRIBUTION}[test]~=0.2.1"
    url = f"git+https://git.example/p.git@{COMMIT}"
    assert requirement("test", source=url) == f"{DISTRIBUTION}[test] @ {url}"


def test_without_a_record_it_came_from_an_index() -> None:
    """Without an installation record there is no direct reference."""
    assert direct_reference(None) == ""


def test_the_requirement_of_what_is_running() -> None:
    """The requirement of the running pyctrl has the extras, and pip can parse it."""
    asked = Requirement(requirement("metrics", "webhook"))
    assert (asked.name, asked.extras) == (DISTRIBUTION, {"metrics", "webhook"})
    assert asked.url or asked.specifier.contains(version(), prereleases=True)
