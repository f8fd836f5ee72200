"""The README and the files of the repository that a visitor sees first."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
DIRECTORIES = {".ci", ".github", "benchmarks", "docs", "examples", "src", "tests", "tools"}
FILES = {
    *("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE", "NOTICE"),
    *("Makefile", "pyproject.toml", "mkdocs.yml", "conftest.py"),
    *(".gitignore", ".dockerignore", ".git-blame-ignore-revs"),
}


def test_the_readme_is_short() -> None:
    """The README has at most 150 lines."""
    assert len(README.splitlines()) <= 150


def test_the_top_level_holds_what_a_visitor_expects() -> None:
    """No file is committed at the top level but those that belong there."""
    if not (ROOT / ".git").exists():  # a source distribution
        return
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert {path.partition("/")[0] for path in listed.splitlines()} == DIRECTORIES | FILES


def test_the_readme_shows_the_program_that_it_runs() -> None:
    """The program of the README is the file that its commands run, in at most 25 lines of code."""
    shown = re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    _, _, program = (ROOT / "examples/website/website.py").read_text().partition('"""\n\n')
    assert shown == [program]
    assert len([line for line in program.splitlines() if line.strip()]) <= 25
    assert "examples/website/website.py" in README


def test_every_picture_has_a_text() -> None:
    """A picture of the README is described for those who do not see it."""
    pictures = re.findall(r"!\[(.*?)\]\((.*?)\)", README)
    assert len(pictures) == 2
    assert all(len(text) > 40 and (ROOT / file).is_file() for text, file in pictures)


def test_the_workflow_runs_what_contributors_run() -> None:
    """Continuous integration calls .ci/run, on the oldest and the newest Python that the package names."""
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
    job = workflow["jobs"]["check"]
    assert {"run": ".ci/run", "env": {"PYTHON": "python"}} in job["steps"]
    project = (ROOT / "pyproject.toml").read_text()
    versions = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', project)
    assert job["strategy"]["matrix"]["python"] == [versions[0], versions[-1]]


def test_the_issue_forms_are_forms() -> None:
    """Each issue form has what GitHub requires: a name, a description, and fields with labels."""
    for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("[!c]*.yml"):
        form = yaml.safe_load(path.read_text())
        assert {"name", "description", "body"} <= set(form), path
        assert all(field["id"] and field["attributes"]["label"] for field in form["body"]), path
