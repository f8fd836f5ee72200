"""Templates for a new project without kinds."""

from __future__ import annotations

import json
from string import Template

from pyctrl._distribution import requirement
from pyctrl.scaffold._project import LICENSES, ScaffoldProject
from pyctrl.scaffold._simulation_template import simulation_files

__all__ = ["DOCKERIGNORE", "initial_files"]

PYPROJECT = Template("""\
[project]
name = "$name"
version = "0.1.0"
description = "A Kubernetes operator"
readme = "README.md"
requires-python = ">=3.11"
${about}${origin}dependencies = ["$runtime"]

[project.optional-dependencies]
dev = ["mypy", "$testing", "ruff"]

[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

${metadata}[tool.hatch.build.targets.wheel]
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

FROM_URL = """\
# pyctrl-runtime is installed from the source that `pyctrl init` used. To change it, edit it here and in the extra dev.
"""

FROM_PATH = """\
# It is a local path. Before others install this project, replace it by a version or git+https://…@COMMIT.
"""

METADATA = """\
[tool.hatch.metadata]
allow-direct-references = true

"""

README = Template("""\
# $name

A Kubernetes operator, written with pyctrl.

```console
$$ python3 -m venv .venv
$$ . .venv/bin/activate
$$ pip install --editable '.[dev]'
$$ pyctrl create api --group GROUP --version v1alpha1 --kind KIND
$$ pyctrl dev    # run in a local cluster, reload on save
$$ ruff check && mypy . && pytest
$$ pyctrl run --install-crds    # run against the cluster of the current kubeconfig context
$$ pyctrl manifests    # write the Kubernetes manifests to config/
$$ pyctrl image build    # build the container image with docker or podman
```

`tests/test_simulation.py` tries every fault against the operator in a simulated cluster: crashes, lost answers, stale
caches, and users who change its objects. If one breaks it, the test prints what happened and the line that replays it.
$portability""")

NOT_PORTABLE = """
pyproject.toml installs pyctrl-runtime from a local path of the machine that `pyctrl init` ran on. Before others install
this project, replace the path by a version or `git+https://…@COMMIT`.
"""

IGNORED = """\
.mypy_cache/
.pytest_cache/
.ruff_cache/
.venv/
__pycache__/
dist/
"""

DOCKERIGNORE = """\
# Excluded from `COPY . .`, except for the wheels of dependencies that `pyctrl image build` builds outside the image.
.git
.*_cache
.pyctrl
.venv
**/__pycache__
dist/*
!dist/wheels
tests
"""

PACKAGE = Template('''\
"""The operator $name."""
''')

MAIN = Template('''\
"""Runs the operator: `python -m $package`, or `pyctrl run $package`."""

import sys

from pyctrl import Manager
from pyctrl.cli import program
from pyctrl.program import setup_package

import $package


def add_$package(manager: Manager) -> None:
    """Add every reconciler and webhook in the modules of this package."""
    setup_package(manager, $package)


if __name__ == "__main__":
    sys.exit(program(add_$package, name="$name"))
''')


def initial_files(project: ScaffoldProject, *, source: str = "") -> dict[str, str]:
    """Return the files of a new project, by path.

    Args:
        project: the project.
        source: the source that pyctrl is installed from, as `pyctrl._distribution.requirement` takes it.
    """
    runtime = requirement("webhook", "metrics", source=source)
    words = {
        "name": project.name,
        "package": project.package,
        "program": project.program,
        "domain": project.domain,
        "layout": project.layout,
        "license": project.license,
        "owner": json.dumps(project.owner),
        "about": _about(project),
        "runtime": runtime,
        "testing": requirement("dev", "test", source=source),
        "origin": _origin(runtime),
        "metadata": METADATA if " @ " in runtime else "",  # otherwise hatchling rejects direct references
        "portability": NOT_PORTABLE if _is_local(runtime) else "",
    }
    files = {
        "pyproject.toml": PYPROJECT.substitute(words),
        "README.md": README.substitute(words),
        ".gitignore": IGNORED,
        ".dockerignore": DOCKERIGNORE,
    }
    if project.layout == "package":
        files[f"{project.package}/__init__.py"] = project.python(PACKAGE.substitute(words))
        files[f"{project.package}/__main__.py"] = project.python(MAIN.substitute(words))
        files |= simulation_files(project)
    return files


def _about(project: ScaffoldProject) -> str:
    owner = f"authors = [{{ name = {json.dumps(project.owner)} }}]\n" if project.owner else ""
    terms = f'license = "{LICENSES[project.license]}"\n' if LICENSES[project.license] else ""
    return terms + owner


def _origin(runtime: str) -> str:
    if " @ " not in runtime:
        return ""
    return FROM_URL + (FROM_PATH if _is_local(runtime) else "")


def _is_local(runtime: str) -> bool:
    """Return whether a requirement is a local checkout, archive or git repository."""
    return " @ file:" in runtime or "+file:" in runtime
