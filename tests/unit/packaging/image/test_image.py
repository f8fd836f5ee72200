"""The image of a program: its Dockerfile, and the tool that builds it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from string import Template

import pytest
from packaging.requirements import Requirement

from pyctrl.errors import CommandFailed
from pyctrl.packaging import Image, Settings, find_tool, image_of
from pyctrl.packaging._image.dependencies import read_dependencies
from tests.unit.packaging._programs import EXAMPLES


def commands(dockerfile: str) -> list[list[str]]:
    """Read the commands of a build; each is a list and needs no shell."""
    return [json.loads(line.removeprefix("RUN ")) for line in dockerfile.splitlines() if line.startswith("RUN ")]


def shop(root: Path, dependencies: list[str], more: str = "") -> Image:
    """Make a project with a program, and return its image."""
    asked = json.dumps(dependencies)
    (root / "pyproject.toml").write_text(
        f'[project]\nname = "shop"\nversion = "1"\ndependencies = {asked}\n{more}[tool.pyctrl]\nprogram = "shop"\n'
    )
    (root / "shop").mkdir()
    (root / "shop" / "__init__.py").touch()
    return image_of(Settings(program="shop", image="shop:1", root=root))


def test_a_file_is_run_by_nobody_in_particular(tmp_path: Path) -> None:
    """A program of one file gets a two-stage build, a user that is not root, and pyctrl with its extras."""
    (tmp_path / "podset.py").write_text("")
    image = image_of(Settings(program="podset.py", image="podset:1", root=tmp_path))
    lines = image.dockerfile.splitlines()
    bases = [line for line in lines if line.startswith("FROM ")]
    assert [bool(re.fullmatch(r"FROM python:\d+\.\d+\.\d+-slim-\w+( AS build)?", each)) for each in bases] == [True] * 2
    assert lines[-3:] == ["COPY podset.py podset.py", "USER 65532:65532", 'ENTRYPOINT ["pyctrl", "run", "podset.py"]']
    asked = Requirement([each for each in commands(image.dockerfile) if "install" in each][-1][-1])
    assert (asked.name, asked.extras) == ("pyctrl-runtime", {"metrics", "webhook"})
    assert image.command("podman") == ["podman", "build", "--file", "-", "--tag", "podset:1", str(tmp_path)]


def test_the_image_starts_from_what_its_author_names(tmp_path: Path) -> None:
    """Both stages start from the base image of the settings, with its digest."""
    (tmp_path / "podset.py").write_text("")
    base = f"python:3.13.12-slim-trixie@sha256:{'0' * 64}"
    text = image_of(Settings(program="podset.py", base_image=base, root=tmp_path)).dockerfile
    assert [line for line in text.splitlines() if line.startswith("FROM ")] == [f"FROM {base} AS build", f"FROM {base}"]


def test_a_project_is_installed_with_what_it_needs(tmp_path: Path) -> None:
    """Dependencies are installed before the code, so that a code change reuses them; a missing one fails the build."""
    image = shop(tmp_path, ["pyctrl-runtime[webhook,metrics]~=0.1.0", "httpx>=0.27"])
    installs = [each[2:] for each in commands(image.dockerfile)][1:]
    assert installs == [
        ["install", "pyctrl-runtime[webhook,metrics]~=0.1.0", "httpx>=0.27"],
        ["install", "--no-deps", "."],
        ["check"],
    ]
    assert image.dockerfile.index("httpx") < image.dockerfile.index("COPY . .\n")
    assert image.wheel_commands == []


@pytest.mark.parametrize(
    "address", ["file:///src/runtime", "git+https://git.example/p.git@0a1b", "git+file:///src/p@0a"]
)
def test_what_a_build_cannot_reach_comes_as_a_wheel(address: str, tmp_path: Path) -> None:
    """Dependencies from a checkout or git become wheels before the build, and need no index."""
    asked = f"pyctrl-runtime[metrics,webhook] @ {address}"
    image = shop(tmp_path, [asked, "httpx>=0.27; python_version > '3.8'", "local_lib @ https://files.example/l-1.zip"])
    assert [each[2:] for each in commands(image.dockerfile)][1:3] == [
        ["install", "--no-index", "--no-deps", "pyctrl-runtime"],
        [
            "install",
            "pyctrl-runtime[metrics,webhook]",
            "httpx>=0.27; python_version > '3.8'",
            "local_lib @ https://files.example/l-1.zip",
        ],
    ]
    assert "COPY dist/wheels /wheels\nENV PIP_FIND_LINKS=/wheels\n" in image.dockerfile
    (command,) = image.wheel_commands
    assert command[1:] == [
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        f"{tmp_path}/dist/wheels",
        asked,
    ]


def test_wheels_have_to_fit_and_to_get_there(tmp_path: Path) -> None:
    """A wheel with compiled code and a .dockerignore that excludes dist are errors."""
    image = shop(tmp_path, ["pyctrl-runtime @ file:///src/runtime"])
    image.check_wheels()
    (tmp_path / ".dockerignore").write_text("dist\n")
    with pytest.raises(CommandFailed, match="excludes dist"):
        image.check_wheels()
    (tmp_path / ".dockerignore").write_text("dist/*\n!dist/wheels\n")
    image.wheels.mkdir(parents=True)
    (image.wheels / "runtime-1-cp313-cp313-macosx_14_0_arm64.whl").touch()
    with pytest.raises(CommandFailed, match="is specific to this platform"):
        image.check_wheels()


@pytest.mark.parametrize("with_hashes", [True, False])
def test_what_is_locked_is_installed(with_hashes: bool, tmp_path: Path) -> None:
    """A requirements.txt determines the installed packages, with hashes if it has them; the project adds none."""
    lock = f"pyctrl-runtime==0.1.0{' --hash=sha256:00' if with_hashes else ''}\n"
    (tmp_path / "requirements.txt").write_text(lock)
    image = shop(tmp_path, ["pyctrl-runtime~=0.1.0", "httpx"])
    hashes = ["--require-hashes"] if with_hashes else []
    assert "COPY requirements.txt ./\n" in image.dockerfile
    assert [each[2:] for each in commands(image.dockerfile)][1:] == [
        ["install", *hashes, "--requirement=requirements.txt"],
        ["install", "--no-deps", "."],
        ["check"],
    ]


@pytest.mark.parametrize(
    ("lock", "complaint"),
    [
        (
            "pyctrl-runtime @ file:///src/runtime\n",
            "which an image build cannot reach.*--no-emit-package pyctrl-runtime",
        ),
        ("httpx==0.28.1\n", "lacks pyctrl-runtime, which runs the program"),
    ],
)
def test_a_lock_file_that_cannot_be_right(lock: str, complaint: str, tmp_path: Path) -> None:
    """An invalid lock file is rejected before the build, with the next step."""
    (tmp_path / "requirements.txt").write_text(lock)
    with pytest.raises(CommandFailed, match=complaint):
        read_dependencies(tmp_path, "pyctrl-runtime~=0.1.0")


def test_dependencies_that_only_the_backend_knows(tmp_path: Path) -> None:
    """Dependencies that only the build backend determines are installed with the project."""
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "shop"\nversion = "1"\ndynamic = ["dependencies"]\n')
    (tmp_path / "shop.py").touch()
    image = image_of(Settings(program="shop.py", root=tmp_path))
    assert [each[2:] for each in commands(image.dockerfile)][1:] == [["install", "."], ["check"]]


BACKEND = Template("""
import zipfile
from pathlib import Path

TEXTS = $texts

def build_wheel(directory, config_settings=None, metadata_directory=None):
    with zipfile.ZipFile(Path(directory, "$wheel"), "w") as file:
        for name, text in TEXTS.items():
            file.writestr(name, text)
    return "$wheel"
""")


def distribution(root: Path, name: str, needs: list[str]) -> None:
    """Write a distribution that pip builds without an index, with its build backend."""
    root.mkdir(exist_ok=True)
    metadata = [f"Metadata-Version: 2.1\nName: {name}\nVersion: 1", *(f"Requires-Dist: {each}" for each in needs)]
    texts = {
        f"{name}.py": "",
        f"{name}-1.dist-info/METADATA": "\n".join(metadata) + "\n",
        f"{name}-1.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{name}-1.dist-info/RECORD": "",
    }
    (root / "backend.py").write_text(BACKEND.substitute(texts=repr(texts), wheel=f"{name}-1-py3-none-any.whl"))
    build = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    project = f'[project]\nname = "{name}"\nversion = "1"\ndependencies = {json.dumps(needs)}\n'
    (root / "pyproject.toml").write_text(build + project)


@pytest.mark.slow(reason="it runs pip five times")
def test_the_commands_of_the_dockerfile_install_everything(tmp_path: Path) -> None:
    """The commands of the Dockerfile, run with local paths, install the project and its dependencies."""
    distribution(tmp_path / "runtime", "pyctrl_runtime", [])
    root = tmp_path / "shop"
    distribution(root, "shop", [f"pyctrl_runtime @ {(tmp_path / 'runtime').as_uri()}"])
    (root / "shop.py").touch()
    image = image_of(Settings(program="shop.py", root=root))
    for command in image.wheel_commands:
        subprocess.run(command, check=True)
    image.check_wheels()
    environment = os.environ | {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(image.wheels)}
    for command in commands(image.dockerfile):
        words = [word.replace("/venv", f"{tmp_path}/venv") for word in command]
        program = {"pip": [sys.executable, "-m", "pip"], "python": [sys.executable]}[words[0]]
        subprocess.run([*program, *words[1:]], cwd=root, check=True, env=environment)
    installed = subprocess.run(
        [tmp_path / "venv" / "bin" / "python", "-c", "import pyctrl_runtime, shop"], cwd=tmp_path, check=False
    )
    assert installed.returncode == 0


def test_a_package_is_copied_whole() -> None:
    """A package is copied completely, so that its imports work."""
    image = image_of(Settings(program=str(EXAMPLES / "podset" / "podset.py")))
    assert image.context == EXAMPLES.parent
    assert "COPY examples examples\n" in image.dockerfile
    assert image.dockerfile.endswith('ENTRYPOINT ["pyctrl", "run", "examples.podset.podset"]\n')


def test_a_dockerfile_of_the_author_is_used(tmp_path: Path) -> None:
    """An existing Dockerfile is used unchanged."""
    (tmp_path / "podset.py").write_text("")
    (tmp_path / "Dockerfile").write_text("FROM scratch\n")
    image = image_of(Settings(program="podset.py", root=tmp_path))
    assert (image.is_own, image.dockerfile, image.wheel_commands) == (True, "FROM scratch\n", [])
    (tmp_path / "requirements.txt").write_text("lib @ file:///src/lib\n")  # the author is responsible for this
    assert image_of(Settings(program="podset.py", root=tmp_path)).is_own


def test_what_builds_is_found_or_said() -> None:
    """CONTAINER_TOOL precedes docker and podman; without any, the error says what to install."""
    both: dict[str, str | None] = {"docker": "here", "podman": "here"}
    assert find_tool({"CONTAINER_TOOL": "nerdctl"}, both) == "nerdctl"
    assert find_tool({}, both) == "docker"
    assert find_tool({}, {"docker": None, "podman": "here"}) == "podman"
    with pytest.raises(CommandFailed, match="install docker or podman, or name another tool in CONTAINER_TOOL"):
        find_tool({}, {})
