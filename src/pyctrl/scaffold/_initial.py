"""The files of a project without kinds."""

from __future__ import annotations

import json
from string import Template

from ._project import LICENSES, ScaffoldProject

__all__ = ["initial_files"]

PYPROJECT = Template("""\
[project]
name = "$name"
version = "0.1.0"
description = "A Kubernetes operator"
readme = "README.md"
requires-python = ">=3.11"
${about}dependencies = ["pyctrl-runtime[webhook,metrics]"]

[dependency-groups]
dev = ["mypy", "pyctrl-runtime[test]", "ruff"]

[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[tool.hatch.build.targets.wheel]
only-include = ["$program"]

[tool.pyctrl]
program = "$program"

[tool.pyctrl.scaffold]
layout = "$layout"
domain = "$domain"
license = "$license"
owner = $owner

[tool.ruff]
line-length = 120

[tool.ruff.lint]
select = ["ASYNC", "B", "E4", "E7", "E9", "F", "I", "N", "RUF", "SIM", "UP"]

[tool.mypy]
strict = true
explicit_package_bases = true

[tool.pytest.ini_options]
asyncio_mode = "auto"
asyncio_default_fixture_loop_scope = "function"
pythonpath = ["."]
pyctrl_strict_loop = true
""")

README = Template("""\
# $name

A Kubernetes operator, written with pyctrl.

```console
$$ pip install -e . --group dev
$$ pyctrl create api --group GROUP --version v1alpha1 --kind KIND
$$ pyctrl dev    # in a cluster of its own, and again whenever a file is saved
$$ ruff check && mypy . && pytest
$$ pyctrl run --install-crds    # against the cluster that kubectl speaks to
$$ pyctrl manifests    # what it needs in a cluster, in config/
```
""")

IGNORED = """\
.mypy_cache/
.pytest_cache/
.ruff_cache/
.venv/
__pycache__/
dist/
"""

PACKAGE = Template('''\
"""The operator $name."""
''')

MAIN = Template('''\
"""Runs the operator: `python -m $package`, or `pyctrl run $package`."""

import sys

from pyctrl import Manager
from pyctrl.cli import program
from pyctrl.manager import wire_package

import $package


def add_$package(manager: Manager) -> None:
    """Wire every reconciler and every webhook that the modules of this package have."""
    wire_package(manager, $package)


if __name__ == "__main__":
    sys.exit(program(add_$package, name="$name"))
''')


def initial_files(project: ScaffoldProject) -> dict[str, str]:
    """Return the files that a project begins with, by path."""
    words = {
        "name": project.name,
        "package": project.package,
        "program": project.program,
        "domain": project.domain,
        "layout": project.layout,
        "license": project.license,
        "owner": json.dumps(project.owner),
        "about": _about(project),
    }
    files = {
        "pyproject.toml": PYPROJECT.substitute(words),
        "README.md": README.substitute(words),
        ".gitignore": IGNORED,
    }
    if project.layout == "package":
        files[f"{project.package}/__init__.py"] = project.python(PACKAGE.substitute(words))
        files[f"{project.package}/__main__.py"] = project.python(MAIN.substitute(words))
    return files


def _about(project: ScaffoldProject) -> str:
    owner = f"authors = [{{ name = {json.dumps(project.owner)} }}]\n" if project.owner else ""
    terms = f'license = "{LICENSES[project.license]}"\n' if LICENSES[project.license] else ""
    return terms + owner
